import { describe, expect, it } from 'vitest'
import { readAnswers } from '../../../../cli/init/answers.ts'

const DEFAULTS = { name: 'counter', plan: 'free' }
const GIVEN = { name: 'mine', sites: 'https://blog.example', downloads: '', plan: 'paid' }

describe('The answers of init', () => {
  it('are those of the options, and defaults where nobody is asked', async () => {
    expect(await readAnswers(GIVEN, DEFAULTS, null)).toEqual(GIVEN)
    const { sites } = GIVEN
    expect(await readAnswers({ sites }, DEFAULTS, null)).toEqual({ ...DEFAULTS, sites, downloads: '' })
  })

  it.each([
    [{ name: 'My Site' }, '--name must be up to 50 lower-case letters'],
    [{ name: 'n'.repeat(51) }, '--name must be up to 50 lower-case letters'],
    [{ sites: '' }, '--sites is missing: name at least one, such as'],
    [{ sites: 'blog.example' }, '--sites must be sites such as'],
    [{ downloads: 'https://files.example' }, '--downloads must be the folder of the files'],
    [{ plan: 'pro' }, '--plan must be "free" or "paid"'],
  ])('are refused with field and fix: %o', async (wrong, message) => {
    await expect(readAnswers({ ...GIVEN, ...wrong }, DEFAULTS, null)).rejects.toThrow(message)
  })

  it('are refused all at once', async () => {
    await expect(readAnswers({ name: '-', plan: '-' }, DEFAULTS, null)).rejects.toThrow(/--name.*\n--sites.*\n--plan/)
  })

  it('are asked for, again after a wrong one, with what is wrong', async () => {
    const typed = ['', 'blog.example', ' https://blog.example ', '']
    const asked: string[] = []
    const answers = await readAnswers({ plan: 'paid' }, DEFAULTS, async (question) => {
      asked.push(question)
      return typed.shift()!
    })
    expect(answers).toEqual({ ...GIVEN, name: 'counter' })
    expect(asked).toEqual([
      'Name of the Worker [counter]: ',
      expect.stringMatching(/^Sites whose pages count/),
      expect.stringMatching(/^sites must be sites such as .*\nSites whose pages count/),
      expect.stringMatching(/^Folder of your downloads/),
    ])
  })
})
