"""The style sheet of a report: light and dark as the reader's system wants, black on white in
print.
"""

STYLE = """\
:root {
  color-scheme: light dark;
  --back: #ffffff; --soft: #f5f6f8; --line: #d0d7de; --text: #1f2328; --faint: #57606a;
  --accent: #1565c0; --good: #0a7d58; --bad: #b3261e; --loop: #b5420e; --was: #8c959f;
  --operation: #8c959f; --contraction: #0072b2; --reduction: #b87f00; --random: #b0578a;
  --recurrence: #00805c; --update: #c24e00; --external: #6a51a3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #16191d; --soft: #1f242a; --line: #444c56; --text: #e6edf3; --faint: #9da7b3;
    --accent: #64b5f6; --good: #4cc38a; --bad: #ff8a80; --loop: #ff9a66; --was: #6b7580;
    --contraction: #2a8fd0; --reduction: #cf9410; --random: #cc79a7; --recurrence: #0a9e76;
    --update: #d9662a; --external: #8b6fc9;
  }
}
* { box-sizing: border-box; }
body {
  max-width: 74rem; margin: 0 auto; padding: 2.2rem 1.6rem 3rem; background: var(--back);
  color: var(--text); font: 15px/1.55 system-ui, sans-serif;
}
header { border-bottom: 1px solid var(--line); padding-bottom: 1.2rem; }
h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--faint); }
.headline {
  margin: .15rem 0 .3rem; max-width: none; font-size: 2rem; line-height: 1.25; font-weight: 650;
}
.headline.failed { color: var(--bad); }
.headline.predicted { color: var(--faint); }
h2 { margin: 2rem 0 .6rem; font-size: 1.12rem; }
h3 { margin: 0 0 .4rem; font-size: .95rem; }
p { margin: .3rem 0; max-width: 48rem; }
.faint { color: var(--faint); }
.notes { border-left: 3px solid var(--accent); padding-left: .9rem; margin: 1.4rem 0; }
.notes p { white-space: pre-line; }
code, pre { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-size: .92em; overflow-wrap: anywhere; }
pre {
  margin: .4rem 0; padding: .6rem .8rem; background: var(--soft); border-radius: 4px;
  font-size: .8rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere;
}
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
th { font-size: .85rem; font-weight: 600; color: var(--faint); }
td.number { width: 27%; }
td .by { display: block; font-size: .8rem; color: var(--faint); }
.bar { display: block; width: 100%; height: 6px; margin-top: .3rem; }
.bar rect { fill: var(--was); }
.bar.after rect { fill: var(--accent); }
.predicted .bar rect { fill-opacity: .45; }
.predicted td.number { color: var(--faint); }
.difference { font-weight: 600; white-space: nowrap; }
.told { border: 1px solid var(--line); border-radius: 4px; padding: .6rem .9rem; margin: 1rem 0; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
ol { margin: .4rem 0; padding-left: 2rem; }
li { margin: .35rem 0; }
li > code { font-weight: 600; }
li p { margin: 0; }
.kind { margin: 1rem 0 .2rem; font-size: .92rem; color: var(--faint); }
.kind b { color: var(--text); }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr));
  gap: 1.2rem 2rem; align-items: start; }
.sides:has(svg.wide) { grid-template-columns: 1fr; }
figure { margin: 0; min-width: 0; }
figcaption { margin-bottom: .4rem; font-size: .92rem; }
figure > svg { display: block; width: 100%; height: auto; max-height: 86vh; margin: 0 auto; }
footer { margin-top: 2.4rem; padding-top: .8rem; border-top: 1px solid var(--line);
  font-size: .85rem; color: var(--faint); }
svg text { fill: var(--text); }
svg text.second { fill: var(--faint); }
.node { --hue: var(--operation); }
.node.contraction { --hue: var(--contraction); }
.node.reduction { --hue: var(--reduction); }
.node.random { --hue: var(--random); }
.node.recurrence { --hue: var(--recurrence); }
.node.update { --hue: var(--update); }
.node.external { --hue: var(--external); }
.node.closed { --hue: var(--faint); }
.node path, .node polygon, .node polyline {
  fill: color-mix(in srgb, var(--hue) 13%, var(--back)); stroke: var(--hue);
}
.node.operation path { fill: var(--back); }
.node.changed path, .node.changed polygon { stroke: var(--accent); stroke-width: 2.4; }
.cluster path, .cluster polygon {
  fill: var(--faint); fill-opacity: .07; stroke: var(--line);
}
.cluster text { fill: var(--faint); }
.edge path { fill: none; stroke: var(--was); }
.edge polygon { fill: var(--was); stroke: var(--was); }
.edge text { fill: var(--faint); }
.edge.carried path { stroke: var(--loop); }
.edge.carried polygon { fill: var(--loop); stroke: var(--loop); }
.edge.carried text { fill: var(--loop); }
.mark { display: inline-block; width: .9em; height: .9em; border: 2px solid var(--accent);
  border-radius: 3px; vertical-align: -.1em; }
@media print {
  :root {
    --back: #ffffff; --soft: #f5f6f8; --line: #b8bfc7; --text: #000000; --faint: #444c56;
    --accent: #1565c0; --good: #0a7d58; --bad: #b3261e; --loop: #b5420e; --was: #8c959f;
    --contraction: #0072b2; --reduction: #b87f00; --random: #b0578a; --recurrence: #00805c;
    --update: #c24e00; --external: #6a51a3; color-scheme: light;
  }
  @page { margin: 16mm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  pre { font-size: 7.5pt; }
  .headline { font-size: 20pt; }
  .sides { display: block; }
  figure { break-inside: avoid; margin-bottom: 8mm; }
  figure > svg { max-height: 215mm; }
  h2, h3, .kind { break-after: avoid; }
  tr, li, .told { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
