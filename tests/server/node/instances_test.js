// Instances, clusters and app profiles, and that they survive a restart.
'use strict';

const assert = require('node:assert/strict');
const {before, after, test} = require('node:test');
const {useServer} = require('./support/server');

const used = useServer({before, after});
const NOT_FOUND = {code: 5};
const CLUSTER = {id: 'cluster-c', nodes: 3, location: 'here-a', storage: 'ssd'};

// Of a long-running operation, which the client waits for.
async function done([, operation]) {
  await operation.promise();
}

async function newInstance(id) {
  const created = await used.bigtable.createInstance(id, {clusters: [{...CLUSTER}], displayName: id});
  await done(created);
  return created[0];
}

test('an instance is created, changed, listed and deleted', async () => {
  const instance = await newInstance('first-one');
  assert.deepEqual(await instance.exists(), [true]);
  const [metadata] = await instance.getMetadata();
  assert.equal(metadata.displayName, 'first-one');
  assert.equal(metadata.state, 'READY');
  await instance.setMetadata({displayName: 'renamed', labels: {env: 'test'}});
  const [found] = await instance.get();
  assert.equal(found.metadata.displayName, 'renamed');
  assert.deepEqual(found.metadata.labels, {env: 'test'});
  const [instances] = await used.bigtable.getInstances();
  assert.ok(instances.some(listed => listed.id === 'first-one'));
  await instance.delete();
  assert.deepEqual(await instance.exists(), [false]);
  await assert.rejects(instance.delete(), NOT_FOUND);
});

test('an instance that exists is not created again', async () => {
  await newInstance('twice-one');
  await assert.rejects(newInstance('twice-one'), {code: 6});
  await assert.rejects(newInstance('No_Such-Name'), {code: 3});
});

test('clusters are created, changed, listed and deleted', async () => {
  const instance = await newInstance('clustered-one');
  const cluster = instance.cluster('cluster-d');
  assert.deepEqual(await cluster.exists(), [false]);
  await done(await cluster.create({nodes: 3, location: 'here-b', storage: 'hdd'}));
  const [metadata] = await cluster.getMetadata();
  assert.equal(metadata.serveNodes, 3);
  assert.equal(metadata.defaultStorageType, 'HDD');
  await done([, (await cluster.setMetadata({nodes: 5}))[0]]);
  assert.equal((await cluster.getMetadata())[0].serveNodes, 5);
  const [clusters] = await instance.getClusters();
  assert.deepEqual(clusters.map(listed => listed.id).sort(), ['cluster-c', 'cluster-d']);
  await cluster.delete();
  assert.deepEqual(await cluster.exists(), [false]);
  await assert.rejects(cluster.get(), NOT_FOUND);
});

test('app profiles are created, changed, listed and deleted', async () => {
  const instance = await newInstance('profiled-one');
  const profile = instance.appProfile('profile');
  assert.deepEqual(await profile.exists(), [false]);
  await profile.create({routing: 'any', description: 'batch', ignoreWarnings: true});
  assert.deepEqual(await profile.exists(), [true]);
  assert.equal((await profile.getMetadata())[0].description, 'batch');
  const changed = await profile.setMetadata({
    description: 'online',
    routing: instance.cluster('cluster-c'),
    ignoreWarnings: true,
  });
  await done([, changed[0]]);
  const [found] = await profile.get();
  assert.equal(found.metadata.description, 'online');
  assert.equal(found.metadata.singleClusterRouting.clusterId, 'cluster-c');
  const [profiles] = await instance.getAppProfiles();
  assert.ok(profiles.some(listed => listed.id === 'profile'));
  const streamed = [];
  for await (const listed of instance.getAppProfilesStream()) streamed.push(listed.id);
  assert.ok(streamed.includes('profile'));
  await profile.delete({ignoreWarnings: true});
  assert.deepEqual(await profile.exists(), [false]);
});

test('calls with an app profile are served', async () => {
  const client = used.server.client({appProfileId: 'some-profile'});
  const [table] = await client.instance('local').createTable('profile', {families: ['f']});
  await table.insert({key: 'r', data: {f: {q: 'v'}}});
  assert.equal((await table.getRows())[0].length, 1);
  await client.close();
});

test('deleting an instance deletes its tables', async () => {
  const instance = await newInstance('full-one');
  const [table] = await instance.createTable('t', {families: ['f']});
  await table.insert({key: 'r', data: {f: {q: 'v'}}});
  await instance.delete();
  await assert.rejects(table.getRows(), NOT_FOUND);
  await newInstance('full-one');
  const [tables] = await instance.getTables();
  assert.deepEqual(tables, []);
});

test('instances, clusters, profiles and tables survive a kill', async () => {
  const instance = await newInstance('durable-one');
  await instance.appProfile('profile').create({routing: 'any', ignoreWarnings: true});
  await instance.createTable('t', {families: [{name: 'f', rule: {versions: 4}}]});
  await used.server.killAndStart();
  const client = used.server.client();
  const found = client.instance('durable-one');
  assert.equal((await found.getMetadata())[0].displayName, 'durable-one');
  assert.deepEqual(await found.cluster('cluster-c').exists(), [true]);
  assert.deepEqual(await found.appProfile('profile').exists(), [true]);
  const [families] = await found.table('t').getFamilies();
  assert.equal(families[0].metadata.gcRule.maxNumVersions, 4);
  await client.close();
});
