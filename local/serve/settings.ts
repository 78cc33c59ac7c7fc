import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { readProxies } from './client-address.ts'

export const SERVE_HELP = `
Environment:
  API_TOKEN              the owner's token, 16 characters or more (openssl rand -hex 32)
  API_TOKENS             named tokens, a line for each (default none)
  MYSQL_URL              your MySQL 8 or later, or MariaDB 10.6 or later: mysql://USER:PASSWORD@HOST:PORT/DATABASE
                         (default: a private server, with its data below STATE_DIR)
  DATABASE_URL           a PlanetScale database instead: https://USER:PASSWORD@HOST
  STATE_DIR              folder for all data (default data)
  HOST                   address to listen on (default 127.0.0.1)
  PORT                   port to listen on (default 8787)
  TRUSTED_PROXIES        addresses and networks of the web servers in front, with TLS: 127.0.0.1, 172.16.0.0/12
  CLIENT_ADDRESS_HEADER  the header in which they name the visitor's address (default X-Forwarded-For)`

export type ServeSettings = ReturnType<typeof readServeSettings>

/** Reads the environment. @throws {Error} if settings are wrong: a line for each, with the fix */
export function readServeSettings(env: NodeJS.ProcessEnv) {
  const wrong: string[] = []
  const refuse = (isWrong: boolean, message: string) => isWrong && wrong.push(`  ${message}`)
  const { API_TOKEN = '', API_TOKENS = '', MYSQL_URL = '', DATABASE_URL = '', TRUSTED_PROXIES = '' } = env
  const host = env.HOST || '127.0.0.1'
  const port = Number(env.PORT || 8787)
  const header = env.CLIENT_ADDRESS_HEADER || 'X-Forwarded-For'
  const isTrusting = TRUSTED_PROXIES.trim() !== ''

  refuse(
    !/^[\x21-\x7e]{16,}$/.test(API_TOKEN),
    'API_TOKEN must have at least 16 visible ASCII characters. Make one, and keep it: openssl rand -hex 32',
  )
  refuse(!Number.isInteger(port) || port < 1 || port > 65_535, 'PORT must be a number from 1 to 65535.')
  refuse(isIP(host) === 0, 'HOST must be an IP address: 127.0.0.1, or with TRUSTED_PROXIES also 0.0.0.0.')
  refuse(
    isIP(host) !== 0 && !/^(?:127\.|::1$)/.test(host) && !isTrusting,
    `HOST=${host} would let others send tokens over plain http. Name the web server with TLS in TRUSTED_PROXIES, or leave HOST at 127.0.0.1.`,
  )
  let isTrusted = readProxies('')
  try {
    isTrusted = readProxies(TRUSTED_PROXIES)
  } catch (error) {
    refuse(true, `TRUSTED_PROXIES: ${(error as Error).message}.`)
  }
  refuse(
    !/^[\w-]+$/.test(header) || /^forwarded$/i.test(header),
    'CLIENT_ADDRESS_HEADER must be a header of addresses: X-Forwarded-For, X-Real-IP or CF-Connecting-IP.',
  )
  refuse(
    Boolean(env.CLIENT_ADDRESS_HEADER) && !isTrusting,
    'CLIENT_ADDRESS_HEADER needs TRUSTED_PROXIES: from others, the header may be forged.',
  )
  refuse(MYSQL_URL !== '' && DATABASE_URL !== '', 'Set MYSQL_URL or DATABASE_URL, not both.')
  // Over plain http, it is an endpoint on this machine.
  refuse(
    DATABASE_URL !== '' && !/^http(?:s:\/\/|:\/\/(?=[^@]*@127\.0\.0\.1))[^:/@]+:[^/@]+@[^/@]+\/?$/.test(DATABASE_URL),
    'DATABASE_URL must be https://USER:PASSWORD@HOST of PlanetScale. For your own server, set MYSQL_URL=mysql://USER:PASSWORD@HOST:PORT/DATABASE.',
  )
  if (wrong.length > 0) throw new Error(`These settings are wrong:\n${wrong.join('\n')}`)
  return {
    host,
    port,
    isTrusted,
    /** In small letters. */
    addressHeader: header.toLowerCase(),
    apiToken: API_TOKEN,
    apiTokens: API_TOKENS,
    mysqlUrl: MYSQL_URL,
    databaseUrl: DATABASE_URL,
    stateDirectory: resolve(env.STATE_DIR || 'data'),
  }
}
