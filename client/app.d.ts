// Generated from the routes by `npm run client`. Do not edit. It imports only types of Hono, so it may also be copied.
// biome-ignore-all lint/complexity/noBannedTypes: Hono's type of an empty object
import type { Hono } from 'hono'
import type { BlankEnv } from 'hono/types'

/** The routes of a Slotted Counter, for Hono's client: `hc<App>('https://YOUR-WORKER')`. */
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
            code: 'configuration_invalid' | 'internal_error' | 'too_many_requests'
          }
          outputFormat: 'json'
          status: 429 | 500 | 503
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
              automated?: boolean | undefined
            }
            query?: {
              type: string
              key: string
              automated?: '0' | '1'
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
              | 'count_out_of_range'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'internal_error'
              | 'outcome_unknown'
              | 'overloaded'
              | 'too_few_ranges'
              | ('body_too_large' | 'invalid_request' | 'malformed_body' | 'malformed_query' | 'unsupported_media_type')
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
              automated?: boolean | undefined
            }
            query?: {
              type: string
              key: string
              automated?: '0' | '1'
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
          automated?: '0' | '1'
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
              consistency: 'exact' | 'rolled'
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'overloaded'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query' | 'too_many_requests' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
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
    $delete:
      | {
          output: {
            type: string
            key: string
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
            query?: {
              below?: string
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
              | 'count_not_below'
              | 'count_out_of_range'
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'history_too_large'
              | 'idempotency_key_reused'
              | 'insufficient_scope'
              | 'internal_error'
              | 'no_such_counter'
              | 'outcome_unknown'
              | 'overtaken'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_key' | 'malformed_query' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 503
          input: {
            param: {
              key: string
              type: string
            }
            header?: {
              'Idempotency-Key'?: string
            }
            query?: {
              below?: string
            }
          }
        }
    $get:
      | {
          output: {
            type: string
            key: string
            count: number
            total: number
            pending: number
            consistency: 'exact' | 'rolled'
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'overloaded'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_key' | 'malformed_query' | 'too_many_requests' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
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
              | 'configuration_invalid'
              | 'count_out_of_range'
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'insufficient_scope'
              | 'internal_error'
              | 'outcome_unknown'
              | 'overloaded'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | (
                  | 'body_too_large'
                  | 'invalid_request'
                  | 'malformed_body'
                  | 'malformed_key'
                  | 'malformed_query'
                  | 'unknown_type'
                  | 'unsupported_media_type'
                )
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 413 | 415 | 422 | 429 | 500 | 503
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
    $put:
      | {
          output: {
            type: string
            key: string
            count: number
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
            json: {
              count: number
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
              | 'count_out_of_range'
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'idempotency_key_reused'
              | 'insufficient_scope'
              | 'internal_error'
              | 'outcome_unknown'
              | 'overtaken'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | (
                  | 'body_too_large'
                  | 'invalid_request'
                  | 'malformed_body'
                  | 'malformed_key'
                  | 'malformed_query'
                  | 'unknown_type'
                  | 'unsupported_media_type'
                )
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 503
          input: {
            param: {
              key: string
              type: string
            }
            header?: {
              'Idempotency-Key'?: string
            }
            json: {
              count: number
            }
          }
        }
  }
  '/v1/counters/:type/:key/history': {
    $get:
      | {
          output: {
            by: 'day' | 'hour' | 'month'
            timeZone: string
            from: string
            to: string
            points: {
              start: string
              count: number
            }[]
            type: string
            key: string
            adjustments: {
              at: string
              kind: 'import' | 'set'
              count: number
            }[]
            consistency: 'exact' | 'rolled'
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              key: string
              type: string
            }
            query?: {
              by?: 'day' | 'hour' | 'month'
              from?: string
              to?: string
              tz?: string
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_key' | 'malformed_query' | 'too_many_requests' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
          input: {
            param: {
              key: string
              type: string
            }
            query?: {
              by?: 'day' | 'hour' | 'month'
              from?: string
              to?: string
              tz?: string
            }
          }
        }
  }
  '/v1/counters/:type/:key/merge': {
    $post:
      | {
          output: {
            type: string
            key: string
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
            json: {
              into: string | number
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
              | 'count_out_of_range'
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'different_ranges'
              | 'history_too_large'
              | 'idempotency_key_reused'
              | 'insufficient_scope'
              | 'internal_error'
              | 'no_such_counter'
              | 'outcome_unknown'
              | 'overtaken'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | (
                  | 'body_too_large'
                  | 'invalid_request'
                  | 'malformed_body'
                  | 'malformed_key'
                  | 'malformed_query'
                  | 'unknown_type'
                  | 'unsupported_media_type'
                )
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 503
          input: {
            param: {
              key: string
              type: string
            }
            header?: {
              'Idempotency-Key'?: string
            }
            json: {
              into: string | number
            }
          }
        }
  }
  '/v1/counters/:type/:key/rename': {
    $post:
      | {
          output: {
            type: string
            key: string
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
            json: {
              to: string | number
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
              | 'count_out_of_range'
              | 'counter_exists'
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'different_ranges'
              | 'history_too_large'
              | 'idempotency_key_reused'
              | 'insufficient_scope'
              | 'internal_error'
              | 'no_such_counter'
              | 'outcome_unknown'
              | 'overtaken'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | (
                  | 'body_too_large'
                  | 'invalid_request'
                  | 'malformed_body'
                  | 'malformed_key'
                  | 'malformed_query'
                  | 'unknown_type'
                  | 'unsupported_media_type'
                )
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 503
          input: {
            param: {
              key: string
              type: string
            }
            header?: {
              'Idempotency-Key'?: string
            }
            json: {
              to: string | number
            }
          }
        }
  }
  '/v1/export/:type': {
    $get:
      | {
          output: {
            rows: {
              key: string
              count: number
              day?: string | undefined
            }[]
            next: string | null
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              type: string
            }
            query?: {
              after?: string
              limit?: string
              by?: 'day' | 'total'
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
          input: {
            param: {
              type: string
            }
            query?: {
              after?: string
              limit?: string
              by?: 'day' | 'total'
            }
          }
        }
  }
  '/v1/imports': {
    $post:
      | {
          output: {
            imported: number
          }
          outputFormat: 'json'
          status: 200
          input: {
            header: {
              'Idempotency-Key': string
            }
            json: {
              counters: {
                type: string
                key: string | number
                count: string | number
                day?: string | undefined
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
              | 'configuration_invalid'
              | 'count_out_of_range'
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'idempotency_key_reused'
              | 'insufficient_scope'
              | 'internal_error'
              | 'outcome_unknown'
              | 'overtaken'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('body_too_large' | 'invalid_request' | 'malformed_body' | 'malformed_query' | 'unsupported_media_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 409 | 413 | 415 | 422 | 429 | 500 | 503
          input: {
            header: {
              'Idempotency-Key': string
            }
            json: {
              counters: {
                type: string
                key: string | number
                count: string | number
                day?: string | undefined
              }[]
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
              | 'configuration_invalid'
              | 'count_out_of_range'
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'insufficient_scope'
              | 'internal_error'
              | 'outcome_unknown'
              | 'overloaded'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('body_too_large' | 'invalid_request' | 'malformed_body' | 'malformed_query' | 'unsupported_media_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 413 | 415 | 422 | 429 | 500 | 503
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
            behindSeconds: number | null
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
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'insufficient_scope'
              | 'internal_error'
              | 'rollup_running'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 409 | 422 | 429 | 500 | 503
          input: {}
        }
  }
  '/v1/search/:type': {
    $get:
      | {
          output: {
            counters: {
              key: string
              count: number
            }[]
            next: string | null
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              type: string
            }
            query?: {
              prefix?: string
              after?: string
              limit?: string
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
          input: {
            param: {
              type: string
            }
            query?: {
              prefix?: string
              after?: string
              limit?: string
            }
          }
        }
  }
  '/v1/setup': {
    $get:
      | {
          output: {
            ready: boolean
            missing: string[]
            pending: string[]
            statements: string[]
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'setup_stopped'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 409 | 422 | 429 | 500 | 503
          input: {}
        }
    $post:
      | {
          output: {
            applied: string[]
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
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'deploy_request_needed'
              | 'insufficient_scope'
              | 'internal_error'
              | 'setup_stopped'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 409 | 422 | 429 | 500 | 503
          input: {}
        }
  }
  '/v1/status': {
    $get:
      | {
          output: {
            version: string
            healthy: boolean
            problems: {
              code:
                | 'breaker_open'
                | 'counters_stuck'
                | 'database_not_ready'
                | 'database_unavailable'
                | 'example_origin'
                | 'history_behind'
                | 'pending_above_bound'
                | 'pruning_behind'
                | 'rollup_behind'
                | 'rollup_missing'
                | 'too_few_ranges'
              detail: string
            }[]
            unavailable: {
              part: 'history' | 'locks' | 'rollUp' | 'runs' | 'server' | 'slots' | 'tables'
              reason: string
            }[]
            pendingSlots: number | null
            pendingSlotsAtLeast: boolean
            prunableSlots: number | null
            prunableSlotsAtLeast: boolean
            rollUp: {
              running: boolean | null
              lastRunAt: string | null
              caughtUpAt: string | null
              behindSeconds: number | null
            }
            history: {
              oldestHour: string | null
            } | null
            database: {
              version: string | null
              isolation: string | null
              latencyMs: number | null
            }
            contention: {
              since: string
              rowLockWaits: number | null
              rowLockWaitsNow: number | null
              rowLockAverageMs: number | null
              deadlocks: number | null
            } | null
            sizes: {
              estimated: boolean
              tables: {
                name: string
                rows: number
                dataBytes: number
                indexBytes: number
              }[]
            } | null
            isolate: {
              breaker: 'closed' | 'open'
              counting: {
                waiting: number
                flushes: number
              }
              reading: {
                waiting: number
                queries: number
              }
              ignored: {
                type: string
                reason: string
                origin: string | null
                at: string
              }[]
            }
            rateLimits: {
              counting: boolean
              reading: boolean
              newKeys: boolean
            }
            types: {
              name: string
              title: string
              unit: string
              url: string | null
              also: string | null
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 422 | 429 | 500 | 503
          input: {}
        }
  }
  '/v1/top/:type': {
    $get:
      | {
          output: {
            type: string
            period: 'all' | 'day' | 'month' | 'week'
            start: string | null
            end: string | null
            counters: {
              key: string
              count: number
            }[]
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              type: string
            }
            query?: {
              period?: 'all' | 'day' | 'month' | 'week'
              date?: string
              limit?: string
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query' | 'too_many_requests' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
          input: {
            param: {
              type: string
            }
            query?: {
              period?: 'all' | 'day' | 'month' | 'week'
              date?: string
              limit?: string
            }
          }
        }
  }
  '/v1/types/:type': {
    $get:
      | {
          output: {
            type: string
            prefix: string | null
            count: number
            total: number
            pending: number | null
            consistency: 'exact' | 'rolled'
            rolledUpAt: string | null
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              type: string
            }
            query?: {
              prefix?: string
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'overloaded'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'too_many_keys'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query' | 'too_many_requests' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
          input: {
            param: {
              type: string
            }
            query?: {
              prefix?: string
              consistency?: 'exact' | 'rolled'
            }
          }
        }
  }
  '/v1/types/:type/history': {
    $get:
      | {
          output: {
            by: 'day' | 'hour' | 'month'
            timeZone: string
            from: string
            to: string
            points: {
              start: string
              count: number
            }[]
            type: string
          }
          outputFormat: 'json'
          status: 200
          input: {
            param: {
              type: string
            }
            query?: {
              by?: 'day' | 'hour' | 'month'
              from?: string
              to?: string
              tz?: string
              prefix?: string
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
              | 'insufficient_scope'
              | 'internal_error'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'too_many_keys'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query' | 'too_many_requests' | 'unknown_type')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
          input: {
            param: {
              type: string
            }
            query?: {
              by?: 'day' | 'hour' | 'month'
              from?: string
              to?: string
              tz?: string
              prefix?: string
            }
          }
        }
  }
  '/v1/verify': {
    $post:
      | {
          output: {
            checked: number
            wrong: {
              type: string | null
              recordType: number
              key?: string | null | undefined
              recordId: string | null
              what: 'adjustments' | 'day' | 'hour' | 'hours' | 'month' | 'total' | 'week'
              start: string | null
              is: number
              shouldBe: number
              difference: number
            }[]
            next: string | null
          }
          outputFormat: 'json'
          status: 200
          input: {
            query?: {
              after?: string
              limit?: string
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
              | 'cross_site_request'
              | 'database_not_ready'
              | 'database_unavailable'
              | 'insufficient_scope'
              | 'internal_error'
              | 'too_few_ranges'
              | 'too_many_attempts'
              | 'unauthorized'
              | ('invalid_request' | 'malformed_query')
          }
          outputFormat: 'json'
          status: 400 | 401 | 403 | 422 | 429 | 500 | 503
          input: {
            query?: {
              after?: string
              limit?: string
            }
          }
        }
  }
}
