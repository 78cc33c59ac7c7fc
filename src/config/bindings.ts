/** The key of what the options of `createSlottedCounter` name. */
export const OPTIONS = Symbol('options')

/** What the platform binds to the Worker, unchecked: see `readConfig`, and `settings` for the names. */
export interface Bindings {
  [name: string]: unknown
  /** The names that bindings have in `env`, and the settings given. Set by `bindingsOf`. */
  [OPTIONS]?: { bindings: Readonly<Record<string, string>>; settings: readonly string[] }
}

/** A base path: segments that need no encoding in a URL, in HTML or in the name of a cookie. */
export const BASE_PATH_FORM = /^(?:\/[\w-]*\w)+$/
