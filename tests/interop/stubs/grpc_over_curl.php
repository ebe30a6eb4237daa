<?php
// The base class of PHP stubs over curl, for unary calls alone: Debian has no gRPC for PHP.

namespace Grpc;

class BaseStub
{
    private string $address;

    public function __construct(string $address, array $options, $channel = null)
    {
        $this->address = $address;
    }

    protected function _simpleRequest($method, $argument, $deserialize, $metadata = [], $options = [])
    {
        return new UnaryCall("http://$this->address$method", $argument, $deserialize[0]);
    }
}

class UnaryCall
{
    private array $trailers = [];
    private string $body;

    public function __construct(string $url, $argument, private string $responseClass)
    {
        $message = $argument->serializeToString();
        $call = curl_init($url);
        curl_setopt_array($call, [
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
            CURLOPT_HTTPHEADER => ['content-type: application/grpc', 'te: trailers'],
            CURLOPT_POSTFIELDS => pack('CN', 0, strlen($message)) . $message,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 30,
            CURLOPT_HEADERFUNCTION => function ($call, string $line) {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $this->trailers[$name] = trim($value);
                return strlen($line);
            },
        ]);
        $body = curl_exec($call);
        if ($body === false) {
            throw new \RuntimeException(curl_error($call));
        }
        $this->body = $body;
    }

    /** The response, null if there is none, and the status: its code and details. */
    public function wait(): array
    {
        $status = new \stdClass();
        $status->code = (int) $this->trailers['grpc-status'];
        $status->details = rawurldecode($this->trailers['grpc-message'] ?? '');
        if ($status->code !== 0) {
            return [null, $status];
        }
        $response = new $this->responseClass();
        $response->mergeFromString(substr($this->body, 5));
        return [$response, $status];
    }
}
