/**
 * The escapes of one character, as UTF-8 has them: a byte below 128, or a leading byte and its continuation bytes. Digits that
 * are not hexadecimal make `decodeURIComponent` throw. Behind a stray `%`, a decoded digit would make another escape.
 */
const ESCAPED_CHARACTER = /(?<!%\w?)%[0-7]\w|%[cd]\w%[89ab]\w|%e\w(?:%[89ab]\w){2}|%f\w(?:%[89ab]\w){3}/gi

/** Characters that would change the meaning of the path, or that nobody could see. */
const KEPT_ESCAPED = /[/?#%]|\p{Cc}/u

/**
 * The key of a page: its path as people read it. Escapes are decoded if they are valid UTF-8 and do not stand for `/`, `?`,
 * `#`, `%` or a control character. Those that remain have capital digits. So `/caf%C3%A9`, `/caf%c3%a9` and `/café` are one page.
 * The key of a key is the same key.
 *
 * For paths of URLs and of log lines, and for what pages send. Not for keys that a program names.
 *
 * @param path the path of a URL, such as `location.pathname`
 */
export function pageKey(path: string): string {
  return path.replace(ESCAPED_CHARACTER, (escaped) => {
    try {
      const character = decodeURIComponent(escaped)
      return KEPT_ESCAPED.test(character) ? escaped.toUpperCase() : character
    } catch {
      return escaped
    }
  })
}
