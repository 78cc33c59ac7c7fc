import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { OWNER, type Token, TokenList } from '../../src/tokens.ts'
import { tokenOf } from '../harness/tokens.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const named = (name: string): Token => ({ name, scope: 'read', types: null, hash: sha256(tokenOf(name)) })
const list = () => new TokenList({ apiToken: 'the owner’s', tokens: [named('a'), named('b')] })

const refuse = async () => {
  throw new Error('an attempt')
}
const allow = async () => {}

it('A named token is found by its value, and anything else is an attempt', async () => {
  const tokens = list()
  const b = tokenOf('b')
  expect(await tokens.find(b, '', refuse)).toEqual(named('b'))
  for (const wrong of ['', b.slice(1), `${b}-`, b.toUpperCase(), tokenOf('c'), sha256(b), 'the owner’s']) {
    await expect(tokens.find(wrong, '', refuse)).rejects.toThrow('an attempt')
  }
})

it('A token that somebody made up is not accepted, even if its hash is listed: it could be guessed', async () => {
  const weak = { ...named('a'), hash: sha256('password') }
  expect(await new TokenList({ apiToken: 'x', tokens: [weak] }).find('password', '', allow)).toBeUndefined()
})

it('The owner’s token has every right', async () => {
  expect(await list().find('the owner’s', '', allow)).toEqual({
    name: OWNER,
    scope: 'manage',
    types: null,
    hash: sha256('the owner’s'),
  })
  expect(await list().find('', '', allow)).toBeUndefined()
})

it('The owner’s token that was accepted is no attempt, but only from the same network', async () => {
  const tokens = list()
  await tokens.find('the owner’s', '192.0.2.1', allow)
  expect((await tokens.find('the owner’s', '192.0.2.1', refuse))?.name).toBe(OWNER)
  await expect(tokens.find('the owner’s', '192.0.2.2', refuse)).rejects.toThrow('an attempt')
})

it('A token is found by its name, which is how sessions know it', async () => {
  expect((await list().withName('b'))?.hash).toBe(sha256(tokenOf('b')))
  expect((await list().withName(OWNER))?.hash).toBe(sha256('the owner’s'))
  expect(await list().withName('c')).toBeUndefined()
})
