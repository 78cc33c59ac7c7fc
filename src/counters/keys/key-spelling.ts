/** The ways in which two spellings can mean one key. */
export const SPELLINGS = ['letter_case', 'index_file', 'trailing_slash'] as const

export type Spelling = (typeof SPELLINGS)[number]

/** Names that web servers give to the page of a folder. */
const INDEX_FILE = /\/index\.(?:html?|php)$/

/**
 * The one spelling of a key under which it is counted: in lower case, without the name of an index file, without slashes at its
 * end, as far as the spellings say so. It is not empty. Its own spelling is itself, so stored names can be used as keys.
 */
export function spellingOf(key: string, spellings: readonly Spelling[]): string {
  let spelled = spellings.includes('letter_case') ? key.toLowerCase() : key
  for (let before = ''; before !== spelled; ) {
    before = spelled
    if (spellings.includes('index_file') && INDEX_FILE.test(spelled)) {
      spelled = spelled.slice(0, spelled.lastIndexOf('/') + 1)
    }
    if (spellings.includes('trailing_slash') && spelled.length > 1 && spelled.endsWith('/'))
      spelled = spelled.slice(0, -1)
  }
  return spelled
}
