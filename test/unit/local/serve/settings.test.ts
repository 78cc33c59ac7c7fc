import { expect, it } from 'vitest'
import { readServeSettings } from '../../../../local/serve/settings.ts'

const API_TOKEN = 'a-token-of-the-owner'

it('Defaults listen on this machine, trust nobody and keep data in ./data', () => {
  const settings = readServeSettings({ API_TOKEN, HOST: '', PORT: '' })
  expect(settings).toMatchObject({ host: '127.0.0.1', port: 8787, addressHeader: 'x-forwarded-for' })
  expect(settings.isTrusted('127.0.0.1')).toBe(false)
  expect(settings.stateDirectory).toMatch(/\/data$/)
})

it('Other addresses, a header and PlanetScale are accepted', () => {
  const env = { TRUSTED_PROXIES: '172.16.0.0/12', HOST: '0.0.0.0', CLIENT_ADDRESS_HEADER: 'CF-Connecting-IP' }
  const settings = readServeSettings({
    API_TOKEN,
    ...env,
    DATABASE_URL: 'https://user:password@aws.connect.psdb.cloud',
  })
  expect(settings).toMatchObject({ host: '0.0.0.0', addressHeader: 'cf-connecting-ip' })
})

it.each([
  [{ API_TOKEN: '' }, 'openssl rand -hex 32'],
  [{ API_TOKEN: 'local' }, 'API_TOKEN must have at least 16 visible ASCII characters'],
  [{ PORT: '0' }, 'PORT must be a number from 1 to 65535'],
  [{ HOST: 'localhost' }, 'HOST must be an IP address'],
  [{ HOST: '0.0.0.0' }, 'HOST=0.0.0.0 would let others send tokens over plain http'],
  [{ HOST: '::' }, 'Name the web server with TLS in TRUSTED_PROXIES'],
  [{ TRUSTED_PROXIES: 'caddy' }, 'TRUSTED_PROXIES: "caddy" is not an address or a network'],
  [{ CLIENT_ADDRESS_HEADER: 'X-Real-IP' }, 'CLIENT_ADDRESS_HEADER needs TRUSTED_PROXIES'],
  [
    { CLIENT_ADDRESS_HEADER: 'Forwarded', TRUSTED_PROXIES: '::1' },
    'CLIENT_ADDRESS_HEADER must be a header of addresses',
  ],
  [{ MYSQL_URL: 'mysql://a', DATABASE_URL: 'https://u:p@h' }, 'Set MYSQL_URL or DATABASE_URL, not both'],
  [{ DATABASE_URL: 'mysql://u:p@h/d' }, 'set MYSQL_URL=mysql://'],
  [{ DATABASE_URL: 'https://host' }, 'DATABASE_URL must be https://USER:PASSWORD@HOST of PlanetScale'],
  [{ DATABASE_URL: 'http://u:p@elsewhere' }, 'DATABASE_URL must be https://'],
])('%j is refused, with the fix', (env, message) => {
  expect(() => readServeSettings({ API_TOKEN, ...env })).toThrow(message)
})

it('All mistakes are named at once', () => {
  expect(() => readServeSettings({ PORT: 'x', HOST: 'y' })).toThrow(/API_TOKEN.*PORT.*HOST/s)
})
