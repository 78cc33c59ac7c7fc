import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { TokenList } from '../../../src/config/token-list.ts'
import { OWNER, type Token } from '../../../src/config/tokens.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const named = (name: string): Token => ({ name, scope: 'read', types: null, hash: sha256(`token of ${name}`) })
const list = () => new TokenList({ apiToken: 'the owner’s', tokens: [named('a'), named('b')] })

it('A named token is found by its value, and by nothing else', async () => {
  const tokens = list()
  expect(await tokens.findNamed('token of b', '')).toEqual(named('b'))
  for (const wrong of ['', 'token of', 'token of bb', 'Token of b', sha256('token of b'), 'the owner’s']) {
    expect(await tokens.findNamed(wrong, '')).toBeUndefined()
  }
})

it('The owner’s token has every right', async () => {
  expect(await list().findOwner('the owner’s', '')).toEqual({
    name: OWNER,
    scope: 'manage',
    types: null,
    hash: sha256('the owner’s'),
  })
  expect(await list().findOwner('token of a', '')).toBeUndefined()
  expect(await list().findOwner('', '')).toBeUndefined()
})

it('A token that was accepted is known without a hash, but only from the same network', async () => {
  const tokens = list()
  await tokens.findOwner('the owner’s', '192.0.2.1')
  await tokens.findNamed('token of a', '192.0.2.2')
  await tokens.findOwner('wrong', '192.0.2.1')
  expect(tokens.accepted('the owner’s', '192.0.2.1')?.name).toBe(OWNER)
  expect(tokens.accepted('token of a', '192.0.2.2')?.name).toBe('a')
  expect(tokens.accepted('the owner’s', '192.0.2.2')).toBeUndefined()
  expect(tokens.accepted('wrong', '192.0.2.1')).toBeUndefined()
})

it('A token is found by its name, which is how sessions know it', async () => {
  expect((await list().withName('b'))?.hash).toBe(sha256('token of b'))
  expect((await list().withName(OWNER))?.hash).toBe(sha256('the owner’s'))
  expect(await list().withName('c')).toBeUndefined()
})
