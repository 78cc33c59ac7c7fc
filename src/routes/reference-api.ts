import * as z from 'zod'
import type { Operation } from '../openapi/operation.ts'

export const readDocument = {
  id: 'openapi',
  tag: 'Reference',
  method: 'get',
  path: '/openapi.json',
  summary: 'This document',
  description: 'The API as OpenAPI 3.1, for tools and generators.',
  access: 'anyone',
  answers: {
    200: {
      description: 'An OpenAPI 3.1 document.',
      schema: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }).meta({ id: 'OpenApi' }),
    },
  },
  revalidated: true,
  problems: [],
  examples: { document: { summary: 'The document', says: { 'Cache-Control': 'public, max-age=300' } } },
} as const satisfies Operation

export const readReference = {
  id: 'docs',
  tag: 'Reference',
  method: 'get',
  path: '/docs',
  summary: 'This documentation, to read',
  description:
    'A page made of the same document: every operation with commands to copy. It needs no script and asks nobody else.',
  access: 'anyone',
  answers: {
    200: { description: 'The page.', contentType: 'text/html', headers: ['Content-Security-Policy'] },
  },
  revalidated: true,
  problems: [],
  examples: { page: { summary: 'The page', says: { 'Cache-Control': 'public, max-age=300' } } },
} as const satisfies Operation
