import { onVitess } from '../../harness/on-vitess.ts'
import { testRandomActions } from './exact-world.ts'

testRandomActions(onVitess ? 4 : 6)
