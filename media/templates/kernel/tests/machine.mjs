/**
 * A small processor, in the time that it takes: one instruction a cycle, in order; an instruction waits until what it reads is there.
 *
 *   li   a, 5        a = 5                          1 cycle until a is there
 *   add  a, b, c     a = b + c (sub likewise)       1
 *   addi a, b, 5     a = b + 5                      1
 *   mul  a, b, c     a = b * c                      4
 *   ld   a, b, 5     a = memory[b + 5]              6
 *   st   a, b, 5     memory[b + 5] = a              1
 *   blt  a, b, name  go on at `name:` if a < b      a taken branch costs 2 more
 *   bne  a, b, name  the same if a differs from b
 *   halt
 *
 * Registers r0 to r31 hold 32-bit integers; r0 is always 0. `#` begins a comment.
 */

/** Cycles until a result can be read. */
const latency = { li: 1, add: 1, sub: 1, addi: 1, mul: 4, ld: 6 };
/** Which operands are registers that are read; r: register, n: number, l: label, w: register that is written. */
const shapes = {
  li: 'wn',
  add: 'wrr',
  sub: 'wrr',
  addi: 'wrn',
  mul: 'wrr',
  ld: 'wrn',
  st: 'rrn',
  blt: 'rrl',
  bne: 'rrl',
  halt: '',
};

/** What a program does wrong: said to its author. */
export class Fault extends Error {}

/**
 * @param {string} text
 * @returns {{ name: string, operands: number[], line: number }[]}
 */
export function assemble(text) {
  /** @type {Map<string, number>} */
  const labels = new Map();
  /** @type {{ name: string, words: string[], line: number }[]} */
  const found = [];
  for (const [index, whole] of text.split('\n').entries()) {
    let rest = whole.replace(/#.*/, '').trim();
    for (let match = /^(\w+):\s*/.exec(rest); match; match = /^(\w+):\s*/.exec(rest)) {
      const label = match[1];
      if (labels.has(label)) throw new Fault(`line ${index + 1}: the label ${label} is there twice`);
      labels.set(label, found.length);
      rest = rest.slice(match[0].length);
    }
    if (rest === '') continue;
    const [name = '', ...words] = rest.split(/[\s,]+/);
    found.push({ name, words, line: index + 1 });
  }
  if (found.length > 20_000) throw new Fault('a program may have 20000 instructions');
  return found.map((one) => ({ name: one.name, operands: operandsOf(one, labels), line: one.line }));
}

/**
 * @param {{ name: string, words: string[], line: number }} instruction
 * @param {Map<string, number>} labels
 */
function operandsOf({ name, words, line }, labels) {
  const shape = Object.hasOwn(shapes, name) ? shapes[/** @type {keyof typeof shapes} */ (name)] : undefined;
  if (shape === undefined) throw new Fault(`line ${line}: there is no instruction ${name}`);
  if (words.length !== shape.length) throw new Fault(`line ${line}: ${name} takes ${shape.length} operands`);
  return words.map((word, index) => {
    const kind = shape[index];
    const value = kind === 'l' ? labels.get(word) : kind === 'n' ? Number(word) : Number(/^r(\d+)$/.exec(word)?.[1]);
    const right = kind === 'n' ? /^-?\d+$/.test(word) : kind === 'l' ? value !== undefined : Number(value) < 32;
    if (!right) throw new Fault(`line ${line}: ${JSON.stringify(word)} can't stand there in ${name}`);
    return Number(value);
  });
}

/**
 * Runs a program until `halt`.
 * @param {ReturnType<typeof assemble>} program
 * @param {Int32Array} memory changed in place
 * @param {number} limit cycles
 * @returns {{ cycles: number, registers: Int32Array }}
 */
export function run(program, memory, limit) {
  const registers = new Int32Array(32);
  const ready = new Float64Array(32);
  let cycle = 0;
  for (let at = 0; ;) {
    const instruction = program[at];
    if (!instruction) throw new Fault('the program ran past its end; it needs a halt');
    if (cycle > limit) throw new Fault(`the program does not halt within ${limit} cycles`);
    const { name, operands, line } = instruction;
    const [a = 0, b = 0, c = 0] = operands;
    if (name === 'halt') return { cycles: cycle + 1, registers };
    const shape = shapes[/** @type {keyof typeof shapes} */ (name)];
    for (const [index, operand] of operands.entries())
      if (shape[index] === 'r') cycle = Math.max(cycle, ready[operand]);
    /** @param {number} register */
    const of = (register) => registers[register];
    const place = name === 'ld' || name === 'st' ? of(b) + c : 0;
    if (place < 0 || place >= memory.length) throw new Fault(`line ${line}: there is no memory at ${place}`);
    let next = at + 1;
    let result;
    if (name === 'li') result = b;
    else if (name === 'add') result = of(b) + of(c);
    else if (name === 'sub') result = of(b) - of(c);
    else if (name === 'addi') result = of(b) + c;
    else if (name === 'mul') result = Math.imul(of(b), of(c));
    else if (name === 'ld') result = memory[place];
    else if (name === 'st') memory[place] = of(a);
    else if (name === 'blt' ? of(a) < of(b) : of(a) !== of(b)) next = c;
    if (result !== undefined) {
      if (a !== 0) registers[a] = result;
      ready[a] = a === 0 ? 0 : cycle + latency[/** @type {keyof typeof latency} */ (name)];
    }
    cycle += next === at + 1 ? 1 : 3;
    at = next;
  }
}
