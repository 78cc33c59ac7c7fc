// `npm run migrations`: writes migrations/*.sql where the Worker and the commands find them: src/database/migrations.json.
import { writeMigrations } from './migrations.ts'

const migrations = await writeMigrations()
console.log(`${migrations.length} migrations`)
