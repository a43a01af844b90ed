import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alarmWord,
  change,
  duration,
  list,
  missedWord,
  paragraphs,
  percent,
  plural,
  sentence,
  short,
  whole,
} from '../src/lib/text';

test('numbers', () => {
  assert.deepEqual([0, 7, 1234, 10000].map(whole), ['0', '7', '1,234', '10,000']);
  assert.deepEqual([7.14, 0.123, 12.6, 1500, 1, 0].map(short), ['7.1', '0.12', '13', '1,500', '1', '0']);
  const rows: [number, number, string][] = [
    [1, 3, '33%'],
    [1, 1000, '0.1%'],
    [1, 10000, '<0.1%'],
    [9995, 10000, '>99.9%'],
    [999, 1000, '99.9%'],
    [0, 5, '0%'],
    [5, 5, '100%'],
    [1, 0, '–'],
  ];
  for (const [part, total, text] of rows) assert.equal(percent(part, total), text);
  assert.deepEqual([12, 90, 7200].map(duration), ['12 s', '2 min', '2.0 h']);
});

test('words', () => {
  assert.equal(change(12, 24), '12 more');
  assert.equal(change(90, 5), '85 fewer');
  assert.equal(change(3, 3), 'as many');
  assert.equal(list(['a', 'b', 'c']), 'a, b and c');
  assert.equal(list([]), '');
  assert.equal(sentence('there is no such study'), 'There is no such study.');
  assert.equal(sentence('Really?'), 'Really?');
  for (const [one, many] of [
    ['missed default', 'missed default cases'],
    ['missed defaulted case', 'missed defaulted cases'],
    ['needless biopsy', 'needless biopsy cases'],
    ['false alarm', 'false alarms'],
  ])
    assert.equal(plural(one!, 2), many);
  const words = { mistakes: { missed: 'loan that is lost', missed_plural: 'loans that are lost' } };
  assert.equal(missedWord(words, 1), 'loan that is lost');
  assert.equal(missedWord(words, 0), 'loans that are lost');
  assert.equal(alarmWord(words, 2), 'false alarms');
  assert.equal(missedWord(undefined, 1), 'missed case');
});

test('an empty line begins a paragraph', () => {
  assert.deepEqual(paragraphs('one\ntwo\n\n \nthree\n'), ['one\ntwo', 'three']);
  assert.deepEqual(paragraphs(undefined), []);
  assert.deepEqual(paragraphs(['a', ' ']), ['a']);
});
