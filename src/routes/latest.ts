import * as v from 'valibot'
import { isLatestName, readLatestFile, writeLatestFile } from '../counters/latest-files.ts'
import { endpoint } from '../http/endpoint.ts'
import { DATABASE, described, ok, operation, route } from '../openapi/contract.ts'
import * as fields from '../openapi/fields.ts'
import { counterOfKey } from '../service/named-counters.ts'
import { invalidRequest } from '../service/problem.ts'
import { destinationOf } from '../visits/download.ts'
import { changed } from './changes.ts'

const setLatest = route('put', '/v1/latest/{type}/{key}', 'manage', {
  body: fields.shortBody(4096, '{"file":"v1.2.0/app.tgz"}', () => ({ file: v.string() })),
})

export const setLatestContract = () =>
  operation(setLatest, 'Changing', 'setLatest', {
    summary: 'Name the latest file',
    params: { key: described(v.string(), 'The name, which contains the word "latest", such as `app-latest.tgz`.') },
    description:
      '`/d/{type}/{key}` then redirects to the file, and counts the file. For up to 30 seconds, requests may still be redirected to the previous file. Safe to repeat.',
    notes: { file: 'The key of the file.' },
    answers: ok('Named.', 'Latest', {
      type: v.string(),
      key: v.string(),
      file: described(v.string(), 'The file that the name leads to, as set by the latest request.'),
    }),
    problems: [...DATABASE, 'outcome_unknown'],
  })

export const latest = endpoint<typeof setLatestContract>(setLatest, async (c, { caller, type, counter, key, body }) => {
  const { file } = body
  const isFile = file === key || !isLatestName(file)
  const wrong = [
    [type.redirectTo === null, 'type', 'has no downloads: its redirect_to is not set'],
    [!isLatestName(key), 'key', 'must contain the word "latest": all other keys are files'],
    [!isFile, 'file', 'must be a file, not another name with the word "latest"'],
    [destinationOf(type.redirectTo ?? '', file) === null, 'file', 'must be the path of a download'],
  ] as const
  const errors = wrong.flatMap(([is, field, message]) => (is ? [{ field, message }] : []))
  if (errors.length > 0) throw invalidRequest(errors)
  await counterOfKey(caller.isolate.addresses, type, file, 'file')
  const { changeDb } = caller.isolate
  await changed(c, null, writeLatestFile(changeDb, counter, file, new Date()), 'Send the same request again.')
  return { type: type.name, key, file: (await readLatestFile(changeDb, counter)) ?? file }
})
