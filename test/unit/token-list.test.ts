import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { OWNER, type Token, TokenList } from '../../src/tokens.ts'
import { tokenOf } from '../harness/tokens.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const named = (name: string): Token => ({ name, scope: 'read', types: null, hash: sha256(tokenOf(name)) })
const list = () => new TokenList({ apiToken: 'the owner’s', tokens: [named('a'), named('b')] })

it('A named token is found by its value, and by nothing else', async () => {
  const tokens = list()
  const b = tokenOf('b')
  expect(await tokens.findNamed(b, '')).toEqual(named('b'))
  for (const wrong of ['', b.slice(1), `${b}-`, b.toUpperCase(), tokenOf('c'), sha256(b), 'the owner’s']) {
    expect(await tokens.findNamed(wrong, '')).toBeUndefined()
  }
})

it('A token that somebody made up is not accepted, even if its hash is listed: it could be guessed', async () => {
  const weak = { ...named('a'), hash: sha256('password') }
  expect(await new TokenList({ apiToken: 'x', tokens: [weak] }).findNamed('password', '')).toBeUndefined()
})

it('The owner’s token has every right', async () => {
  expect(await list().findOwner('the owner’s', '')).toEqual({
    name: OWNER,
    scope: 'manage',
    types: null,
    hash: sha256('the owner’s'),
  })
  expect(await list().findOwner(tokenOf('a'), '')).toBeUndefined()
  expect(await list().findOwner('', '')).toBeUndefined()
})

it('A token that was accepted is known without a hash, but only from the same network', async () => {
  const tokens = list()
  await tokens.findOwner('the owner’s', '192.0.2.1')
  await tokens.findNamed(tokenOf('a'), '192.0.2.2')
  await tokens.findOwner('wrong', '192.0.2.1')
  expect(tokens.accepted('the owner’s', '192.0.2.1')?.name).toBe(OWNER)
  expect(tokens.accepted(tokenOf('a'), '192.0.2.2')?.name).toBe('a')
  expect(tokens.accepted('the owner’s', '192.0.2.2')).toBeUndefined()
  expect(tokens.accepted('wrong', '192.0.2.1')).toBeUndefined()
})

it('A token is found by its name, which is how sessions know it', async () => {
  expect((await list().withName('b'))?.hash).toBe(sha256(tokenOf('b')))
  expect((await list().withName(OWNER))?.hash).toBe(sha256('the owner’s'))
  expect(await list().withName('c')).toBeUndefined()
})
