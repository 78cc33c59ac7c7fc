import { inject } from 'vitest'

/** Whether the tests run on Vitess. What asserts on the status of one server is skipped there. */
export const onVitess: boolean = inject('onVitess')
