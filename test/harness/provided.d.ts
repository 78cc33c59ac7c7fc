import 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * `POST` takes an empty database and returns its name and URL. `?migrate` creates the tables too. `DELETE /NAME` gives it back.
     */
    databases: string
    /** The server behind the endpoint. */
    mysqlUrl: string
    /** The server that runs the statements: behind a vtgate, that of VITESS_MYSQL_URL, if it is set. */
    backendUrl: string
    /** Whether the server is a vtgate. */
    onVitess: boolean
    /** The setting SHARDING.ranges of the databases. */
    ranges: number
    /** A folder for the files of tests, which is removed when the run ends. */
    scratch: string
    /** The same in memory, on a tmpfs; `null` if this machine has none with 1 GB free. */
    memory: string | null
  }
}
