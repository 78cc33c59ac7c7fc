// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/slotted-counter-4wDc54CKJj5-.js'
export const STYLE = '/dashboard/slotted-counter--5lm9tUrbTwE.css'
