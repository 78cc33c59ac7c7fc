// The product's Worker as it is deployed: `product.ts` makes more when it starts.
export * from '../../src/index.ts'
export { default } from '../../src/index.ts'
