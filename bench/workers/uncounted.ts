// The product's Worker without counting: every request is read, checked and answered as the product does it.
import { GroupCommit } from '../../src/counters/write/group-commit.ts'
import worker from '../../src/index.ts'

GroupCommit.prototype.count = async () => 'counted'

export default worker
