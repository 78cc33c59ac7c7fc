import { testKeysOfPages } from './keys-of-pages.ts'

testKeysOfPages({ third: 1 })
