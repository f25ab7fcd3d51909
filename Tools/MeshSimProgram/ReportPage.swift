import MeshSim

/// A run as one page that needs nothing else: the mesh, how one message spreads in it, and how long all of them took.
enum ReportPage {
  static func html(_ report: Report, numbers: String) -> String {
    let picture = report.picture
    let nodes = picture.points.enumerated().map { node, point in
      let at = picture.arrivals[node].map { ReportText.number($0, 1) } ?? "-1"
      return "[\(ReportText.number(point.x, 4)),\(ReportText.number(point.y, 4)),\(at)]"
    }
    let links = picture.edges.map { "[\($0.central),\($0.peripheral)]" }
    return head(title: "\(report.scenario), rules \(report.rules), seed \(report.seed)") + """
      <main>
      <section><h2>One message, from node \(picture.source)</h2>
      <svg id="mesh" viewBox="0 0 1000 1000" role="img" aria-label="The mesh; a node lights up when the message is there"></svg>
      <p><button id="play">Play</button>
      <input id="time" type="range" min="0" max="1000" value="1000" aria-label="Time since it was said">
      <output id="now"></output></p></section>
      <section><h2>All messages</h2>
      <svg id="spread" viewBox="0 0 1000 420" role="img" aria-label="Deliveries by latency"></svg>
      <pre>\(escaped(numbers))</pre></section>
      </main>
      <script>
      const nodes=[\(nodes.joined(separator: ","))],links=[\(links.joined(separator: ","))];
      const counts=[\(buckets(report).map { "\($0)" }.joined(separator: ","))],most=\(ReportText.number(report.latency.most, 1));
      \(script)
      </script>
      </html>

      """
  }

  /// Deliveries in fifty even shares of the longest latency.
  private static func buckets(_ report: Report) -> [Int] {
    var counts = [Int](repeating: 0, count: 50)
    guard let last = report.latencies.last else { return counts }
    for latency in report.latencies { counts[min(49, latency * 50 / (last + 1))] += 1 }
    return counts
  }

  private static func head(title: String) -> String {
    """
    <!doctype html>
    <html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>\(escaped(title))</title>
    <style>
    :root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
    body{margin:1rem auto;max-width:72rem;padding:0 1rem}
    main{display:grid;gap:2rem;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr))}
    svg{width:100%;background:color-mix(in srgb,currentColor 5%,transparent);border-radius:8px}
    line{stroke:currentColor;opacity:.18}circle{fill:currentColor;opacity:.25}
    circle.there{fill:#e8590c;opacity:1}circle.source{fill:#1971c2;opacity:1}
    rect{fill:#1971c2}text{fill:currentColor;font-size:24px}
    pre{overflow:auto;font-size:.8rem}input{width:60%;vertical-align:middle}
    </style>
    <h1>\(escaped(title))</h1>

    """
  }

  private static let script = """
    const make=(parent,name,values)=>{const one=document.createElementNS('http://www.w3.org/2000/svg',name);
     for(const key in values)one.setAttribute(key,values[key]);parent.appendChild(one);return one};
    const mesh=document.getElementById('mesh'),xs=nodes.map(n=>n[0]),ys=nodes.map(n=>n[1]);
    const range=(v)=>[v.reduce((a,b)=>Math.min(a,b)),v.reduce((a,b)=>Math.max(a,b))];
    const [x0,x1]=range(xs),[y0,y1]=range(ys),size=Math.max(x1-x0,y1-y0)||1;
    const at=n=>[30+940*(n[0]-x0)/size,30+940*(n[1]-y0)/size];
    for(const [a,b] of links){const p=at(nodes[a]),q=at(nodes[b]);make(mesh,'line',{x1:p[0],y1:p[1],x2:q[0],y2:q[1]})}
    const radius=Math.max(2.5,Math.min(12,160/Math.sqrt(nodes.length)));
    const dots=nodes.map(n=>{const p=at(n);return make(mesh,'circle',{cx:p[0],cy:p[1],r:radius})});
    const end=Math.max(1,...nodes.map(n=>n[2])),slider=document.getElementById('time'),now=document.getElementById('now');
    const show=()=>{const t=end*slider.value/1000;let there=0;
     nodes.forEach((n,i)=>{const is=n[2]>=0&&n[2]<=t;if(is)there++;
      dots[i].setAttribute('class',n[2]===0?'source':is?'there':'')});
     now.textContent=t.toFixed(0)+' ms: '+there+' of '+nodes.length+' nodes'};
    slider.oninput=show;show();
    document.getElementById('play').onclick=()=>{const start=performance.now(),step=n=>{
     slider.value=Math.min(1000,(n-start)/4);show();if(slider.value<1000)requestAnimationFrame(step)};
     requestAnimationFrame(step)};
    const spread=document.getElementById('spread'),top=Math.max(1,...counts);
    counts.forEach((c,i)=>{const bar=make(spread,'rect',{x:20+i*19.2,y:370-340*c/top,width:17,height:340*c/top});
     make(bar,'title',{}).textContent=c+' deliveries'});
    make(spread,'text',{x:20,y:405}).textContent='0 ms';
    make(spread,'text',{x:980,y:405,'text-anchor':'end'}).textContent=most.toFixed(0)+' ms';
    """

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
