// Made of the routes by `npm run client`; not to be edited. It imports types of Hono and nothing else, so it may also be copied.
// biome-ignore-all lint/complexity/noBannedTypes: how Hono says that there is nothing
import type { Hono } from 'hono'
import type { BlankEnv } from 'hono/types'

/** What a Slotted Counter answers, for Hono's client: `hc<App>('https://YOUR-WORKER')`. */
export type App = Hono<BlankEnv, Routes, '/'>

type Routes = {
  '/healthz': {
    $get:
      | {
          output: {
            status: 'ok'
            database: 'ok'
          }
          outputFormat: 'json'
          status: 200
          input: {}
        }
      | {
          output: {
            status: 'unavailable'
            database: string
            detail: string
          }
          outputFormat: 'json'
          status: 503
          input: {}
        }
  }
  '/hit': {
    $post:
      | {
          output: {}
          outputFormat: string
          status: import('hono/utils/http-status').StatusCode
          input: {
            header?: {
              'User-Agent'?: string
            }
            json?: {
              type: string
              key: string | number
            }
            query?: {
              type: string
              key: string
            }
          }
        }
      | {
          output: {
            type: string
            title: string
            status: number
            detail: string
            errors?:
              | {
                  field: string
                  message: string
                }[]
              | undefined
            requestId: string
            code:
              | 'body_too_large'
              | 'configuration_invalid'
              | 'count_out_of_range'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'invalid_request'
              | 'malformed_body'
              | 'malformed_query'
              | 'outcome_unknown'
              | 'overloaded'
              | 'unsupported_media_type'
          }
          outputFormat: 'json'
          status: 400 | 413 | 415 | 422 | 500 | 503
          input: {
            header?: {
              'User-Agent'?: string
            }
            json?: {
              type: string
              key: string | number
            }
            query?: {
              type: string
              key: string
            }
          }
        }
  }
  '/hit.gif': {
    $get: {
      output: {}
      outputFormat: string
      status: import('hono/utils/http-status').StatusCode
      input: {
        header?: {
          'User-Agent'?: string
        }
        query: {
          type: string
          key: string
        }
      }
    }
  }
  '/v1/counters/:type': {
    $get:
      | {
          output: {
            counters: {
              type: string
              key: string
              count: number
              total: number
              pending: number
              rolledUpAt: string | null
            }[]
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              type: string
            }
            query: {
              key: string[]
              consistency?: 'exact' | 'rolled'
            }
          }
        }
      | {
          output: {
            type: string
            title: string
            status: number
            detail: string
            errors?:
              | {
                  field: string
                  message: string
                }[]
              | undefined
            requestId: string
            code:
              | 'configuration_invalid'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'invalid_request'
              | 'malformed_query'
              | 'unauthorized'
              | 'unknown_type'
          }
          outputFormat: 'json'
          status: 400 | 401 | 404 | 422 | 500 | 503
          input: {
            param: {
              type: string
            }
            query: {
              key: string[]
              consistency?: 'exact' | 'rolled'
            }
          }
        }
  }
  '/v1/counters/:type/:key': {
    $get:
      | {
          output: {
            type: string
            key: string
            count: number
            total: number
            pending: number
            rolledUpAt: string | null
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              key: string
              type: string
            }
            query?: {
              consistency?: 'exact' | 'rolled'
            }
          }
        }
      | {
          output: {
            type: string
            title: string
            status: number
            detail: string
            errors?:
              | {
                  field: string
                  message: string
                }[]
              | undefined
            requestId: string
            code:
              | 'configuration_invalid'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'invalid_request'
              | 'malformed_key'
              | 'malformed_query'
              | 'unauthorized'
              | 'unknown_type'
          }
          outputFormat: 'json'
          status: 400 | 401 | 404 | 422 | 500 | 503
          input: {
            param: {
              key: string
              type: string
            }
            query?: {
              consistency?: 'exact' | 'rolled'
            }
          }
        }
    $post:
      | {
          output: {
            type: string
            key: string
            added: number
            count?: number | null | undefined
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              key: string
              type: string
            }
            header?: {
              'Idempotency-Key'?: string
            }
            json?: {
              by?: number | undefined
            }
            query?: {
              return?: 'count'
            }
          }
        }
      | {
          output: {
            type: string
            key: string
            added: number
            count?: null | undefined
          }
          outputFormat: 'json'
          status: 202
          input: {
            param: {
              key: string
              type: string
            }
            header?: {
              'Idempotency-Key'?: string
            }
            json?: {
              by?: number | undefined
            }
            query?: {
              return?: 'count'
            }
          }
        }
      | {
          output: {
            type: string
            title: string
            status: number
            detail: string
            errors?:
              | {
                  field: string
                  message: string
                }[]
              | undefined
            requestId: string
            code:
              | 'body_too_large'
              | 'configuration_invalid'
              | 'count_out_of_range'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'invalid_request'
              | 'malformed_body'
              | 'malformed_key'
              | 'malformed_query'
              | 'outcome_unknown'
              | 'overloaded'
              | 'unauthorized'
              | 'unknown_type'
              | 'unsupported_media_type'
          }
          outputFormat: 'json'
          status: 400 | 401 | 404 | 413 | 415 | 422 | 500 | 503
          input: {
            param: {
              key: string
              type: string
            }
            header?: {
              'Idempotency-Key'?: string
            }
            json?: {
              by?: number | undefined
            }
            query?: {
              return?: 'count'
            }
          }
        }
  }
  '/v1/increments': {
    $post:
      | {
          output: {
            accepted: number
          }
          outputFormat: 'json'
          status: 200
          input: {
            header?: {
              'Idempotency-Key'?: string
            }
            json: {
              increments: {
                type: string
                key: string | number
                by?: number | undefined
              }[]
            }
          }
        }
      | {
          output: {
            accepted: number
          }
          outputFormat: 'json'
          status: 202
          input: {
            header?: {
              'Idempotency-Key'?: string
            }
            json: {
              increments: {
                type: string
                key: string | number
                by?: number | undefined
              }[]
            }
          }
        }
      | {
          output: {
            type: string
            title: string
            status: number
            detail: string
            errors?:
              | {
                  field: string
                  message: string
                }[]
              | undefined
            requestId: string
            code:
              | 'body_too_large'
              | 'configuration_invalid'
              | 'count_out_of_range'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'invalid_request'
              | 'malformed_body'
              | 'outcome_unknown'
              | 'overloaded'
              | 'unauthorized'
              | 'unsupported_media_type'
          }
          outputFormat: 'json'
          status: 400 | 401 | 413 | 415 | 422 | 500 | 503
          input: {
            header?: {
              'Idempotency-Key'?: string
            }
            json: {
              increments: {
                type: string
                key: string | number
                by?: number | undefined
              }[]
            }
          }
        }
  }
  '/v1/rollup': {
    $post:
      | {
          output: {
            outcome: 'busy' | 'complete' | 'partial'
            moved: number
            counters: number
            slots: number
            pages: number
            overtaken: number
            stuck: number
            statements: number
            milliseconds: number
            left: number | null
          }
          outputFormat: 'json'
          status: 200
          input: {}
        }
      | {
          output: {
            type: string
            title: string
            status: number
            detail: string
            errors?:
              | {
                  field: string
                  message: string
                }[]
              | undefined
            requestId: string
            code:
              | 'configuration_invalid'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'rollup_running'
              | 'unauthorized'
          }
          outputFormat: 'json'
          status: 401 | 409 | 500 | 503
          input: {}
        }
  }
  '/v1/status': {
    $get:
      | {
          output: {
            pendingSlots: number
            pendingSlotsAtLeast: boolean
            rollUp: {
              running: boolean
              lastRunAt: string | null
              caughtUpAt: string | null
              behindSeconds: number | null
            }
            types: {
              name: string
              recordType: number
              key: 'integer' | 'string'
            }[]
          }
          outputFormat: 'json'
          status: 200
          input: {}
        }
      | {
          output: {
            type: string
            title: string
            status: number
            detail: string
            errors?:
              | {
                  field: string
                  message: string
                }[]
              | undefined
            requestId: string
            code:
              | 'configuration_invalid'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'unauthorized'
          }
          outputFormat: 'json'
          status: 401 | 500 | 503
          input: {}
        }
  }
}
