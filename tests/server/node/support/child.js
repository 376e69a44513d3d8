// A server as a child process, of which a line of standard output names the address.
'use strict';

const {spawn} = require('node:child_process');
const readline = require('node:readline');

// Children that a failed test has left must not outlive this process.
const running = new Set();
process.on('exit', () => running.forEach(child => child.kill('SIGKILL')));

class Child {
  // `addressOf(line)` returns the address, or null where the line is another one.
  static async start(program, args, addressOf) {
    const child = new Child();
    child.process = spawn(program, args, {stdio: ['ignore', 'pipe', 'pipe']});
    running.add(child.process);
    child.errors = '';
    child.process.stderr.on('data', data => (child.errors = (child.errors + data).slice(-10000)));
    child.ended = new Promise(resolve => {
      child.process.on('error', error => resolve({error}));
      child.process.on('exit', (code, signal) => resolve({code, signal}));
    }).then(end => {
      running.delete(child.process);
      return end;
    });
    const found = new Promise(resolve => {
      const lines = readline.createInterface({input: child.process.stdout});
      lines.on('line', line => {
        const address = addressOf(line);
        if (address !== null) resolve(address);
      });
    });
    const end = child.ended.then(reason => {
      throw new Error(`${program} ended at once: ${JSON.stringify(reason)} ${child.errors}`);
    });
    end.catch(() => {});
    child.address = await Promise.race([found, end]);
    return child;
  }

  get pid() {
    return this.process.pid;
  }

  // Sends the signal and returns how the process ended: {code, signal}.
  end(signal) {
    this.process.kill(signal);
    return this.ended;
  }
}

module.exports = {Child};
