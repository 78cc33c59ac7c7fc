/** The page's style sheet. The Content-Security-Policy contains its hash. */
export const STYLE = `
:root { color-scheme: light dark; --page: light-dark(#f5f6f8, #12161c); --card: light-dark(#fff, #1a2028);
  --text: light-dark(#1b2330, #e8ecf2); --dim: light-dark(#566173, #a3aebd); --line: light-dark(#dfe3ea, #2d3642); --field: light-dark(#8b95a5, #6b7686);
  --link: light-dark(#2159b8, #8fb6fa); --good: light-dark(#1b6e3c, #6fd08c); --bad: light-dark(#b3261e, #f28b82);
  --odd: light-dark(#8a4b08, #f0a04b) }
* { box-sizing: border-box }
html { scroll-padding-top: 56px }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: break-word;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif }
a { color: var(--link) }
a:focus-visible, summary:focus-visible, pre:focus-visible, input:focus-visible, button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.skip { position: absolute; left: -999px }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 8px }
header { display: flex; justify-content: space-between; gap: 16px; padding: 8px 16px; background: var(--card);
  border-bottom: 1px solid var(--line) }
header p { margin: 0 }
.brand { font-weight: 600; text-decoration: none; color: inherit }
header a + a { margin-left: 16px }
.columns { max-width: 1060px; margin: 0 auto; padding: 0 16px; display: grid; gap: 0 32px }
nav ul { display: flex; flex-wrap: wrap; gap: 0 16px; margin: 16px 0 0; padding: 0; list-style: none }
nav a { display: block; padding: 5px 0; color: var(--dim); text-decoration: none }
nav a:hover { text-decoration: underline }
main { min-width: 0; padding-bottom: 64px }
h1, h2, h3, h4 { line-height: 1.25 }
h1 { font-size: 26px; margin: 24px 0 12px }
h2 { font-size: 21px; margin: 40px 0 8px }
h3 { display: inline; font-size: 15px; margin: 0 }
h4 { font-size: 14px; margin: 20px 0 6px }
.operation { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: 8px 0 }
.operation > summary { padding: 8px 16px }
.operation[open] > summary { border-bottom: 1px solid var(--line) }
.operation > div { padding: 8px 16px 16px; scroll-margin-top: 48px }
.operation > div > p { margin: 8px 0 }
.route { color: var(--dim); overflow-wrap: anywhere }
.method { font-weight: 700; color: var(--link) }
.access, .kind, .caption { color: var(--dim); font-size: 13px; font-weight: 400 }
.caption { margin: 12px 0 4px }
code, pre { font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, "Liberation Mono", monospace }
pre { margin: 0; padding: 10px 12px; overflow-x: auto; background: var(--page); border: 1px solid var(--line); border-radius: 6px }
dl { margin: 0 }
dt { margin-top: 6px }
dd { margin: 0 0 0 16px; color: var(--dim) }
dd dl { border-left: 2px solid var(--line); padding-left: 10px; color: var(--text) }
.answer p { margin: 6px 0 }
.status { font-weight: 600; color: var(--bad) }
.s2, .s3 { color: var(--good) }
.s5 { color: var(--odd) }
summary { padding: 8px 0; cursor: pointer }
details[open] { padding-bottom: 12px }
div > details { border-top: 1px solid var(--line) }
form { position: sticky; top: 0; display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 8px 0; background: var(--page) }
form[hidden] { display: none }
form p { flex-basis: 100%; margin: 0; color: var(--dim); font-size: 13px }
form p:empty { display: none }
input { flex: 1; min-width: 0; min-height: 34px; padding: 4px 10px; border: 1px solid var(--field); border-radius: 6px;
  background: var(--card); color: inherit; font: inherit }
button { padding: 1px 8px; border: 1px solid var(--field); border-radius: 6px; background: var(--card); color: var(--text);
  font: inherit; cursor: pointer }
#copied { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%) }
@media (min-width: 860px) {
  .columns { grid-template-columns: 120px minmax(0, 1fr) }
  nav { position: sticky; top: 0; align-self: start; padding: 8px 0 }
  nav ul { display: block }
}
@media print {
  details::details-content { content-visibility: visible; block-size: auto }
  nav, form, button { display: none }
}
`
