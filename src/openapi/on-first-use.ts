/**
 * Makes something when it is first needed, and keeps it. The schemas of all routes together take milliseconds of an isolate's start,
 * and most isolates use few of them.
 */
export function onFirstUse<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}
