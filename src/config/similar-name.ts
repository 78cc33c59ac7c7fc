/** The one of some names that a misspelt one probably is: they differ by case, or by one or two neighboring letters. A library is larger. */
export function similarName(misspelt: string, names: readonly string[]): string | undefined {
  const forms = (name: string) => {
    const text = name.toUpperCase().replaceAll(/[^A-Z]/g, '')
    return [text, ...Array.from(text, (_, i) => text.slice(0, i) + text.slice(i + 1))]
  }
  const own = new Set(forms(misspelt))
  return names.find((name) => forms(name).some((form) => own.has(form)))
}

/** What is said of a name that is not one of `names`. */
export function unknownAmong(names: readonly string[], name: string): string {
  const meant = similarName(name, names)
  return meant === undefined ? 'is unknown' : `is unknown: did you mean ${meant}?`
}
