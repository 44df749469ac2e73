/** Runs before every file of tests; its `afterAll` after all of the file's own. */
import { afterAll } from 'vitest'
import { dropDatabases } from './harness/databases.ts'
import { renewIds } from './harness/ids.ts'

renewIds()
afterAll(dropDatabases)
