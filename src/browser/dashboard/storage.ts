/** Uses the browser's storage. Browsers that block it throw; then the answer is `null`. */
export function withStorage<Found>(use: () => Found): Found | null {
  try {
    return use()
  } catch {
    return null
  }
}
