import { keepEarly } from '../src/early.ts'

/** The end of the script of a pixel that measures vitals: runs with it. */
keepEarly()
