import 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** `POST` makes an empty database and answers its name and URL; with `?migrate`, the tables too. */
    databases: string
    /** The server itself, for tests of what stands in front of it. */
    mysqlUrl: string
    /** A folder for what tests keep on disk; removed with everything in it when the run ends. */
    scratch: string
  }
}
