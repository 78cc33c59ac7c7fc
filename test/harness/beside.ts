/** Repeats work, each on its own, until something else has ended. Fails when anything fails, which ends all that is repeated. */
export async function beside<T>(main: Promise<T>, ...repeated: (() => Promise<unknown>)[]): Promise<T> {
  let over = false
  const end = () => {
    over = true
  }
  const repeating = repeated.map(async (work) => {
    while (!over) await work()
  })
  await Promise.all([main, ...repeating].map((work) => work.finally(end))).finally(() => Promise.allSettled(repeating))
  return main
}
