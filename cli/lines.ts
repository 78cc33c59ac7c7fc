/**
 * Splits text into lines, without their LF or CRLF. Where the text was split into pieces makes no difference.
 * @param maxCharacters longer lines are cut, so that a text without line breaks does not fill the memory
 */
export async function* splitLines(texts: AsyncIterable<string>, maxCharacters: number): AsyncGenerator<string> {
  const finish = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line).slice(0, maxCharacters)
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    // One character more than is used, for the CR.
    rest = lines.pop()!.slice(0, maxCharacters + 1)
    for (const line of lines) yield finish(line)
  }
  if (rest !== '') yield finish(rest)
}
