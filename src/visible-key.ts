const ARABIC = String.raw`(?!\p{DI})\p{sc=Arab}`
const LETTER = String.raw`(?!\p{DI})\p{Lo}`
const MARK = String.raw`(?!\p{DI})\p{M}`

/** Sequences that need characters which are invisible elsewhere: emoji, and joined or separated letters, as in Persian and Hindi. */
const JOINED = [
  String.raw`\u{1F3F4}[\u{E0020}-\u{E007E}]+\u{E007F}`,
  String.raw`[\d#*]\uFE0F\u20E3`,
  String.raw`\p{ExtPict}[\uFE0F\p{EMod}]?(?:\u200D\p{ExtPict}[\uFE0F\p{EMod}]?)*`,
  String.raw`${ARABIC}(?:(?:${MARK})*[\u200C\u200D]${ARABIC})+`,
  String.raw`${LETTER}(?:(?:${MARK})+[\u200C\u200D]${LETTER})+`,
].join('|')

/** Control characters, what is never drawn, whitespace but for a blank, and blanks at an end or beside another one. */
const INVISIBLE = String.raw`[\p{Cc}\p{Cf}\p{DI}\u2800]|[^\S ]|^ | (?= |$)`

/** Made on first use: it takes a millisecond, and no hit needs it. */
let parts: RegExp | undefined

/** A key as people see it: `a\u{20}` for "a ". Strangers make keys: two that differ must not look the same, nor turn the writing around. */
export function visibleKey(key: string): string {
  parts ??= new RegExp(`(${JOINED})|${INVISIBLE}`, 'gu')
  const spelled = key.replace(parts, (part: string, joined?: string) =>
    joined === undefined ? `\\u{${part.codePointAt(0)!.toString(16).toUpperCase()}}` : part,
  )
  return spelled === '' ? '(empty)' : spelled
}
