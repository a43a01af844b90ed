// The two modules of node that the tests use; the whole of @types/node is not needed for them.
declare module 'node:test' {
  export function test(name: string, run: () => void | Promise<void>): void;
}
declare module 'node:assert/strict' {
  interface Assert {
    match(actual: string, pattern: RegExp): void;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): void;
    rejects(work: Promise<unknown>, check?: (error: Error) => boolean): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}
