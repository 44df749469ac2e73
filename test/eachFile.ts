/** Runs before every file of tests; its `afterAll` after all of the file's own. */
import { afterAll } from 'vitest'
import { dropClickHouseDatabases } from './harness/databases.ts'

afterAll(dropClickHouseDatabases)
