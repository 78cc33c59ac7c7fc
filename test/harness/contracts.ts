/// <reference types="vite/types/importMeta.d.ts" />
import { contractsOf } from '../../scripts/openapi/contracts.ts'

const files = Object.values(import.meta.glob<object>('../../src/routes/*.ts', { eager: true }))

/** The contracts of all routes. */
export const contracts = () => contractsOf(files)
