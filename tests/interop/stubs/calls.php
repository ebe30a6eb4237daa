<?php
// Calls a sidecar through the PHP stubs and fails unless the answers are right.
//
//   php calls.php STUBS HOST:PORT
require __DIR__ . '/grpc_over_curl.php';

use TtlSidecar\V1\CheckVisibilityRequest;
use TtlSidecar\V1\Container;
use TtlSidecar\V1\ContainerServiceClient;
use TtlSidecar\V1\CreateContainerRequest;
use TtlSidecar\V1\GetContainerRequest;
use TtlSidecar\V1\Item;
use TtlSidecar\V1\ItemServiceClient;
use TtlSidecar\V1\TrackItemsRequest;
use TtlSidecar\V1\Visibility;
use TtlSidecar\V1\VisibilityCheck;

const CONTAINER = 'php/sessions';
const DEFAULT_TTL = 100;
const INVALID_ARGUMENT = 3;

spl_autoload_register(function (string $class) use ($argv) {
    foreach ([$argv[1], '/usr/share/php'] as $folder) {
        $file = $folder . '/' . strtr($class, '\\', '/') . '.php';
        if (is_file($file)) {
            require_once $file;
            return;
        }
    }
});

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

function expect(string $name, $got, $want): void
{
    if ($got !== $want) {
        fail("$name is " . json_encode($got) . ', not ' . json_encode($want));
    }
}

/** The response of a call that must be answered with OK. */
function answer($call)
{
    [$response, $status] = $call->wait();
    expect("code ($status->details)", $status->code, 0);
    return $response;
}

function item(string $id, int $ts, ?int $ttl = null): Item
{
    $item = (new Item())->setPartitionKey('p')->setId($id)->setTs($ts);
    return $ttl === null ? $item : $item->setTtl($ttl);
}

function checkPolicies(ContainerServiceClient $containers): void
{
    foreach ([CONTAINER => DEFAULT_TTL, 'php/off' => null] as $id => $defaultTtl) {
        $container = (new Container())->setId($id);
        if ($defaultTtl !== null) {
            $container->setDefaultTtl($defaultTtl);
        }
        answer($containers->CreateContainer((new CreateContainerRequest())->setContainer($container)));
        $got = answer($containers->GetContainer((new GetContainerRequest())->setId($id)))->getContainer();
        expect("presence of default_ttl of $id", $got->hasDefaultTtl(), $defaultTtl !== null);
        expect("default_ttl of $id", $got->getDefaultTtl(), $defaultTtl ?? 0);
    }
}

function checkItems(ItemServiceClient $items): void
{
    $now = time();
    $request = (new TrackItemsRequest())->setContainer(CONTAINER);
    $reports = [item('old', $now - 200), item('new', $now), item('kept', $now - 200, -1)];
    expect('number of results', count(answer($items->TrackItems($request->setItems($reports)))->getResults()), 3);

    $keys = array_map(fn ($id) => (new VisibilityCheck())->setPartitionKey('p')->setId($id),
                      ['old', 'new', 'kept', 'unknown']);
    $checks = (new CheckVisibilityRequest())->setContainer(CONTAINER)->setChecks($keys);
    $answer = answer($items->CheckVisibility($checks));
    expect('visibilities', iterator_to_array($answer->getVisibilities()),
           [Visibility::VISIBILITY_EXPIRED, Visibility::VISIBILITY_VISIBLE, Visibility::VISIBILITY_VISIBLE,
            Visibility::VISIBILITY_UNTRACKED]);
    expect('expire times', array_map(intval(...), iterator_to_array($answer->getExpireTimes())),
           [$now - 200 + DEFAULT_TTL, $now + DEFAULT_TTL, 0, 0]);

    [, $status] = $items->TrackItems($request->setItems([item('zero', $now, 0)]))->wait();
    expect('code for ttl 0', $status->code, INVALID_ARGUMENT);
    expect('whether the message for ttl 0 names the field',
           str_contains($status->details, 'items[0].ttl'), true);
}

checkPolicies(new ContainerServiceClient($argv[2], []));
checkItems(new ItemServiceClient($argv[2], []));
