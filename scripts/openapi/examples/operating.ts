import { metricsText } from '../../../src/routes/status.ts'
import type { Status } from '../../../src/service/status.ts'
import { type ExamplesOf, exampleNoCounter } from '../example.ts'

const CAUGHT_UP: Status = {
  version: '0.1.0',
  healthy: true,
  problems: [],
  pendingSlots: 3,
  behindSeconds: 4,
  verification: { agreedAt: '2026-11-20T00:04:00.000Z', mismatches: 0 },
  deadBatches: 0,
  types: [{ name: 'page_view', recordType: 1, sameKey: ['trailing_slash'] }],
}

export const OPERATING_EXAMPLES: ExamplesOf<'Operating'> = {
  health: { well: { summary: 'Healthy', answer: { status: 'ok', database: 'ok' } } },
  status: { status: { summary: 'Caught up four seconds ago', answer: CAUGHT_UP } },
  metrics: {
    metrics: {
      summary: 'One type with a prefix',
      answer: metricsText(CAUGHT_UP, [
        [{ type: 'download' }, 218],
        [{ type: 'download', prefix: 'app-' }, 15],
      ]),
    },
  },
  rollUp: {
    rollUp: {
      summary: 'Twelve counts of two counters',
      answer: {
        outcome: 'complete',
        moved: 12,
        counters: 2,
        slots: 3,
        pages: 1,
        overtaken: 0,
        stuck: 0,
        statements: 14,
        milliseconds: 9,
        left: 0,
        behindSeconds: 0,
      },
    },
  },
  verify: {
    lastPage: {
      summary: 'The last page of an empty database',
      query: { after: 'days.65535.', limit: '100' },
      answer: { checked: 0, wrong: [], next: null },
    },
  },
  repair: { missing: { ...exampleNoCounter(), body: {} } },
  setup: { ready: { summary: 'Ready', answer: { ready: true, pending: [], statements: [] } } },
  makeTables: { again: { summary: 'Nothing to do', answer: { applied: [] } } },
}
