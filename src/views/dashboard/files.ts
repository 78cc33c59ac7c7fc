// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-THaEHh3EigIl.js'
export const STYLE = '/dashboard/slotted-counter-9Vao4qB3Q426.css'
