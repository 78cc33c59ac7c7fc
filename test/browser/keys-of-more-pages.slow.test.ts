import { testKeysOfPages } from './keys-of-pages.ts'

testKeysOfPages(1)
