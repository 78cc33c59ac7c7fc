/**
 * Makes something when it is first needed, and keeps it. Formats are slow to make, and a page uses few of them before its chart
 * is there.
 */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}
