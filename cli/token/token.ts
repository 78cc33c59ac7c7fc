// `npm run token`: makes a named token of the API.
import { randomBytes } from 'node:crypto'
import { program } from 'commander'
import type { FieldError } from '../../src/schemas.ts'
import { PREFIX, readTokens, sha256 } from '../../src/tokens.ts'
import { declaredTypes } from '../check/declared-types.ts'
import { commandName, START } from '../command-name.ts'

program
  .name(commandName('token'))
  .description('Creates a named token and prints the line that the Worker needs. Nothing is stored or sent.')
  .argument('<name>', 'a name of your choice: up to 32 letters, digits, "_" and "-"')
  .argument('<scope>', 'count, read or manage; to limit it to types, add them: read:page_view,download')
  .addHelpText(
    'after',
    `
Scopes:
  count   add to counters
  read    read everything: types that are not public, searches, exports, the status, the dashboard
  manage  everything that API_TOKEN may do

Example: ${commandName('token')} website count:page_view`,
  )
  .parse()

const [name = '', scope = ''] = program.args
if (/[\s#]/.test(name + scope)) program.error('Neither name nor scope may contain spaces or #.')
const token = `${PREFIX}${randomBytes(32).toString('base64url')}`
const line = `${name} ${scope} ${await sha256(token)}`
const types = declaredTypes('wrangler.toml')
// Without the file, they only have to be names.
const mistakes: FieldError[] = []
readTokens(line, (type) => types?.includes(type) ?? /^[A-Za-z][\w-]{0,62}$/.test(type), mistakes)
if (mistakes.length > 0) {
  const known = types === null ? '' : ` (wrangler.toml has ${types.join(', ')})`
  const said = mistakes.map(({ field, message }) => {
    const of = field.split('.').at(-1)
    return `${of} ${message}${of === 'types' ? known : ''}.`
  })
  program.error(said.join('\n'))
}

console.log(`The token (shown only once):

  ${token}

Add this line to a file such as tokens.txt. It contains only a hash of the token:

  ${line}

Then upload the whole file, which replaces all lines that the Worker has:

  npx wrangler secret put API_TOKENS < tokens.txt

On this machine:  API_TOKENS="$(cat tokens.txt)" ${START}
In .dev.vars:     API_TOKENS="LINE\\nLINE"`)
