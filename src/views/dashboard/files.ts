// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-Z-Q6vPVYlavq.js'
export const STYLE = '/dashboard/slotted-counter-qSiNhq1LHLvj.css'
