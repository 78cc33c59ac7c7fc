import { afterAll } from 'vitest'
import { giveBackOfFile } from './taken-databases.ts'

// Runs in every test file, even where files share their modules.
afterAll(giveBackOfFile)
