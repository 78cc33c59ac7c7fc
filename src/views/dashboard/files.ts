// Made by `npm run assets`. The names contain a hash of the contents.
export const SCRIPT = '/dashboard/d1C5PXYMbPZ_.js'
export const STYLE = '/dashboard/-5lm9tUrbTwE.css'
