import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { HttpError } from './json-http.ts'

/** The state of a session. Statements change it. */
export interface SessionState {
  uuid: string
  inTransaction: boolean
  /** The server's transaction. `null` outside transactions, and in one until its first statement was sent. */
  transactionId: string | null
}

/** Signs sessions, so that clients cannot forge them. */
export class SessionSigner {
  readonly #secret = randomBytes(32)

  /**
   * A session as a client holds it. The driver does not look into it, and returns it with the next statement. As in vtgate, BEGIN
   * changes `inTransaction` only, and the first statement of the transaction adds `shardSessions`.
   */
  issue(database: string, state: SessionState) {
    const { uuid, inTransaction, transactionId } = state
    const target = { keyspace: database, shard: '-', tabletType: 'PRIMARY' } as const
    return {
      signature: this.#sign(database, state),
      vitessSession: {
        autocommit: true,
        options: { includedFields: 'ALL', clientFoundRows: true },
        ...(inTransaction && { inTransaction }),
        ...(transactionId !== null && { shardSessions: [{ target, transactionId }] }),
        SessionUUID: uuid,
        DDLStrategy: 'direct',
        enableSystemSettings: true,
      },
    }
  }

  /**
   * Reads the session of a request. A request without one begins a new session.
   *
   * @throws {HttpError} if this signer did not issue it for this database
   */
  read(database: string, session: unknown): SessionState {
    if (session === null || session === undefined) {
      return { uuid: randomUUID(), inTransaction: false, transactionId: null }
    }
    const { signature, vitessSession } = session as Partial<ReturnType<SessionSigner['issue']>>
    const state: SessionState = {
      uuid: vitessSession?.SessionUUID ?? '',
      inTransaction: vitessSession?.inTransaction ?? false,
      transactionId: vitessSession?.shardSessions?.[0]?.transactionId ?? null,
    }
    if (signature !== this.#sign(database, state)) {
      throw new HttpError(400, 'INVALID_ARGUMENT', 'the session was not issued by this endpoint')
    }
    return state
  }

  #sign(database: string, { uuid, inTransaction, transactionId }: SessionState): string {
    const text = [database, uuid, inTransaction, transactionId].join('\0')
    return createHmac('sha256', this.#secret).update(text).digest('base64')
  }
}
