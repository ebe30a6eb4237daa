# Calls a sidecar through the Ruby stubs alone and fails unless the answers are right.
#
#   ruby -I STUBS calls.rb HOST:PORT
require 'ttl/v1/container_service_services_pb'
require 'ttl/v1/item_service_services_pb'
include TtlSidecar::V1

CONTAINER = 'ruby/sessions'.freeze
DEFAULT_TTL = 100
WANTED = %i[VISIBILITY_EXPIRED VISIBILITY_VISIBLE VISIBILITY_VISIBLE VISIBILITY_UNTRACKED].freeze

def expect(name, got, want)
  abort "#{name} is #{got.inspect}, not #{want.inspect}" unless got == want
end

def item(id, ts, ttl = nil)
  Item.new({ partition_key: 'p', id: id, ts: ts, ttl: ttl }.compact)
end

def check_policies(containers)
  { CONTAINER => DEFAULT_TTL, 'ruby/off' => nil }.each do |id, default_ttl|
    container = Container.new({ id: id, default_ttl: default_ttl }.compact)
    containers.create_container(CreateContainerRequest.new(container: container))
    got = containers.get_container(GetContainerRequest.new(id: id)).container
    # protobuf 3.21 says 0 for true, which counts as true in Ruby.
    expect("presence of default_ttl of #{id}", got.has_default_ttl? ? true : false, !default_ttl.nil?)
    expect("default_ttl of #{id}", got.default_ttl, default_ttl || 0)
  end
end

def check_items(items)
  now = Time.now.to_i
  reports = [item('old', now - 200), item('new', now), item('kept', now - 200, -1)]
  tracked = items.track_items(TrackItemsRequest.new(container: CONTAINER, items: reports))
  expect('number of results', tracked.results.size, 3)

  keys = %w[old new kept unknown].map { |id| VisibilityCheck.new(partition_key: 'p', id: id) }
  request = CheckVisibilityRequest.new(container: CONTAINER, checks: keys)
  answer = items.check_visibility(request)
  expect('visibilities', answer.visibilities.to_a, WANTED)
  expect('expire times', answer.expire_times.to_a, [now - 200 + DEFAULT_TTL, now + DEFAULT_TTL, 0, 0])

  message = StreamCheckVisibilityRequest.new(request: request)
  answers = items.stream_check_visibility([message]).map { |reply| reply.response.visibilities.to_a }
  expect('visibilities of the stream', answers, [WANTED])

  begin
    items.track_items(TrackItemsRequest.new(container: CONTAINER, items: [item('zero', now, 0)]))
    abort 'ttl 0 is not refused'
  rescue GRPC::InvalidArgument => e
    expect('whether the message for ttl 0 names the field', e.message.include?('items[0].ttl'), true)
  end
end

def stub(service, address)
  service.const_get(:Stub).new(address, :this_channel_is_insecure, timeout: 30)
end

check_policies(stub(ContainerService, ARGV[0]))
check_items(stub(ItemService, ARGV[0]))
