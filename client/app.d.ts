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
            database:
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
              | 'method_not_allowed'
              | 'not_found'
              | 'outcome_unknown'
              | 'overloaded'
              | 'rollup_running'
              | 'unauthorized'
              | 'unknown_type'
              | 'unsupported_media_type'
            detail: string
          }
          outputFormat: 'json'
          status: 503
          input: {}
        }
  }
  '/hit': {
    $post: {
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
    $get: {
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
  }
  '/v1/counters/:type/:key': {
    $get: {
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
    $post:
      | {
          output: {
            type: string
            key: string
            added: number
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
          output:
            | {
                type: string
                key: string
                added: number
              }
            | {
                type: string
                key: string
                added: number
                count: null
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
  }
  '/v1/increments': {
    $post: {
      output: {
        accepted: number
      }
      outputFormat: 'json'
      status: 200 | 202
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
    $post: {
      output: {
        outcome: 'complete' | 'partial' | 'busy'
        counters: number
        slots: number
        pages: number
        overtaken: number
        stuck: number
        statements: number
        milliseconds: number
        left: number | null
        moved: number
      }
      outputFormat: 'json'
      status: 200
      input: {}
    }
  }
  '/v1/status': {
    $get: {
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
  }
}
