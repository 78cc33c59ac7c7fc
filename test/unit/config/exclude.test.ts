import { describe, expect, it } from 'vitest'
import { problems, read } from './valid-config.ts'

const RULE = 'must be an address or a network, such as "203.0.113.7", "203.0.113.0/24" or "2001:db8::/48"'

describe('EXCLUDE.networks', () => {
  it('may be addresses and networks', () => {
    const { ownNetworks } = read({ EXCLUDE: { networks: ['203.0.113.7', '198.51.100.0/24', '2001:db8::/48'] } })
    expect(ownNetworks.map(({ bits }) => bits)).toEqual([128, 120, 48])
  })

  it('may be left out', () => {
    for (const settings of [{}, { EXCLUDE: {} }, { EXCLUDE: { networks: [] } }]) {
      expect(read(settings).ownNetworks).toEqual([])
    }
  })

  it('are refused by their place in the list', () => {
    const networks = ['203.0.113.7', '203.0.113.0/33', 'example.com', '2001:db8::/48', 7, '']
    expect(problems({ EXCLUDE: { networks } })).toEqual([1, 2, 4, 5].map((i) => `EXCLUDE.networks.${i} ${RULE}`))
  })

  it('must be a list', () => {
    expect(problems({ EXCLUDE: { networks: '203.0.113.7' } })).toEqual(['EXCLUDE.networks must be a list of networks'])
    expect(problems({ EXCLUDE: { network: [] } })).toEqual(['EXCLUDE.network is not known here'])
  })
})
