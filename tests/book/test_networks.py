"""Networks: shapes, what goes in, and how the weights begin."""

import math
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box
from stable_baselines3.common.torch_layers import NatureCNN
from torch import nn
from torch.nn.functional import conv2d

from figures import networks as figure
from labml_rl import bodies, networks, runs
from labml_rl.bodies import VectorBody, as_blocks, make_body
from labml_rl.game import available_games, make_game
from labml_rl.networks import draw, entropy_of, log_probs_of, orthogonal_
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo import recurrent, rnd
from labml_rl.pqn import experiment as pqn

# The types of torch do not know what is in a module, nor all that can be done with one.
ActorCritic: Any = networks.ActorCritic
NatureBody: Any = bodies.NatureBody
QNetwork: Any = networks.QNetwork

ATARI = (4, 84, 84)


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def pictures(count, shape=ATARI):
    return torch.randint(0, 256, (count, *shape), dtype=torch.uint8)


def parameters(module):
    return sum(each.numel() for each in module.parameters())


def stages(body, observations):
    """What each ReLU gives."""
    numbers = observations
    found = []
    for layer in body.layers:
        numbers = layer(numbers)
        if isinstance(layer, nn.ReLU):
            found.append(numbers)
    return found


# --- shapes ---


def test_the_nature_network_has_its_shapes_and_its_weights():
    body = NatureBody(ATARI)
    shapes = [tuple(each.shape[1:]) for each in stages(body, pictures(1))]
    assert shapes == [(32, 20, 20), (64, 9, 9), (64, 7, 7), (512,)]
    assert parameters(body) == 1_684_128
    linear = next(each for each in body.layers if isinstance(each, nn.Linear))
    assert parameters(linear) == 1_606_144
    # With heads: 513 numbers for each output.
    assert parameters(ActorCritic(ATARI, 6)) == 1_684_128 + 7 * 513
    assert parameters(QNetwork(ATARI, 6)) == 1_684_128 + 6 * 513


def test_the_body_is_that_of_stable_baselines3():
    body = NatureBody(ATARI)
    theirs = NatureCNN(Box(0, 255, ATARI, np.uint8))
    for mine, other in zip(body.parameters(), theirs.parameters(), strict=True):
        other.data.copy_(mine.data)
    observations = pictures(3)
    # Theirs leaves the scaling to the policy around it.
    expected = theirs(observations.float() / 255)
    torch.testing.assert_close(body(observations), expected)


@pytest.mark.parametrize("stack", [1, 2, 4])
@pytest.mark.parametrize("actions", [1, 3, 18])
def test_any_stack_and_any_number_of_actions(stack, actions):
    shape = (stack, 84, 84)
    logits, values = ActorCritic(shape, actions)(pictures(2, shape))
    assert (logits.shape, values.shape) == ((2, actions), (2,))
    assert QNetwork(shape, actions)(pictures(2, shape)).shape == (2, actions)


@pytest.mark.parametrize("sides", [(36, 36), (96, 96), (210, 160), (37, 99), (64, 64)])
def test_any_size_that_fits(sides):
    assert NatureBody((3, *sides))(pictures(2, (3, *sides))).shape == (2, 512)


@pytest.mark.parametrize("shape", [(4, 35, 84), (4, 84, 35), (4, 8, 8), (10, 10, 4)])
def test_pictures_that_are_too_small_are_refused(shape):
    with pytest.raises(
        ValueError, match=r"too small a picture.* ResizeObservation.* such as a board"
    ):
        ActorCritic(shape, 2)


@pytest.mark.parametrize("shape", [(), (84, 84), (2, 4, 84, 84)])
def test_what_is_neither_picture_nor_vector_is_refused(shape):
    for make in (make_body, lambda shape: QNetwork(shape, 2)):
        with pytest.raises(ValueError, match=r"must be pictures, .* or vectors"):
            make(shape)


def test_the_first_convolution_takes_what_any_other_does():
    options: Any = {"padding": 2, "dilation": 2, "groups": 2, "stride": 3}
    ours = bodies.FirstConvolution(4, 32, 5, **options)
    theirs = nn.Conv2d(4, 32, 5, **options)
    theirs.load_state_dict(ours.state_dict())
    observations = pictures(2, ATARI)
    torch.testing.assert_close(ours(observations), theirs(observations / 255))


def test_channels_on_the_wrong_side_are_recognised():
    with pytest.raises(ValueError, match="With channels_last=True it"):
        NatureBody((84, 84, 4))
    for side, way in ((36, "With channels_last=True it"), (35, "ResizeObservation")):
        with pytest.raises(ValueError, match=way):
            NatureBody((side, 84, 3))
    with pytest.raises(ValueError, match="With channels_last=False it"):
        NatureBody(ATARI, channels_last=True)


def test_channels_last_is_the_same_network():
    first, last = NatureBody((3, 96, 64)), NatureBody((96, 64, 3), channels_last=True)
    last.load_state_dict(first.state_dict())
    observations = pictures(2, (3, 96, 64))
    torch.testing.assert_close(
        last(observations.permute(0, 2, 3, 1)), first(observations)
    )


def test_the_figure_is_what_the_network_does(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["figures.networks", "--check"])
    figure.main()
    seen = [
        (each.shape, each.sees, each.spacing)
        for each in figure.stages(NatureBody(ATARI))
    ]
    assert seen == [((32, 20, 20), 8, 4), ((64, 9, 9), 20, 8), ((64, 7, 7), 36, 8)]
    monkeypatch.setattr("figures.drawing.FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"networks-shapes\.svg"):
        figure.main()


def test_one_place_sees_as_much_as_the_figure_says():
    """And no more: the gradient of one place reaches just these pixels."""
    body = NatureBody(ATARI)
    numbers = torch.rand(1, *ATARI, requires_grad=True)
    place = iter([(5, 15), (2, 7), (1, 6)])
    stages = iter(figure.stages(body))
    passed = numbers
    for layer in body.layers:
        passed = layer(passed)
        if isinstance(layer, nn.Conv2d):
            column, row = next(place)
            stage = next(stages)
            assert stage.at(*figure.BALL) == (column, row)
            (grad,) = torch.autograd.grad(
                passed[0, :, row, column].sum(), numbers, retain_graph=True
            )
            rows, columns = grad[0].abs().sum(0).nonzero().T
            for first, last, index in (
                (rows.min(), rows.max(), row),
                (columns.min(), columns.max(), column),
            ):
                assert first == index * stage.spacing
                assert last == first + stage.sees - 1


# --- what goes in ---


def test_bytes_are_scaled_once():
    body = NatureBody(ATARI)
    observations = pictures(2)
    before = observations.clone()
    first = body.layers[0]
    scaled = observations.to(torch.float32) / 255
    seen = conv2d(scaled, first.weight, first.bias, stride=4)
    expected = body.layers[1:](seen)
    torch.testing.assert_close(body(observations), expected)
    assert torch.equal(observations, before)


def test_numbers_of_another_shape_are_refused():
    """One that stands alone would get an answer, too, of another shape."""
    body = VectorBody((4,))
    for shape in ((4,), (2, 5), (2, 4, 3)):
        message = rf"must have shape \(N, 4\), not \({', '.join(map(str, shape))}"
        with pytest.raises(ValueError, match=message):
            body(torch.zeros(shape))
    assert body(torch.zeros(2, 3, 4)).shape == (2, 3, 64)


@pytest.mark.parametrize("body", [NatureBody(ATARI), VectorBody((4,))])
def test_what_is_no_tensor_is_told_how_to_be_one(body):
    with pytest.raises(
        TypeError, match=r"not ndarray: torch\.from_numpy\(\) makes one"
    ):
        body(np.zeros((1, 4)))


def test_only_bytes_are_divided():
    body = VectorBody((3,))
    numbers = torch.tensor([[0, 51, 255]])
    scaled = body(torch.tensor([[0, 0.2, 1]]))
    torch.testing.assert_close(body(numbers.to(torch.uint8)), scaled)
    for dtype in (torch.float32, torch.float64, torch.int64):
        torch.testing.assert_close(
            body(numbers.to(dtype)), body.layers(numbers.float())
        )


@pytest.mark.parametrize(
    ("shape", "channels_last"),
    [
        (ATARI, False),
        ((96, 40, 3), True),
        ((1, 36, 44), False),
        # As Gymnasium's GrayscaleObservation(keep_dim=True) has them.
        ((84, 84, 1), True),
    ],
)
def test_blocks_are_the_same_pictures(shape, channels_last):
    body = NatureBody(shape, channels_last=channels_last)
    observations = torch.randint(256, (3, *shape), dtype=torch.uint8)
    blocks = body.prepared(observations)
    assert blocks.shape[1:] == body.blocks
    found, expected = body(blocks), body(observations)
    torch.testing.assert_close(found, expected)
    weight = body.layers[0].weight
    gradients = [
        torch.autograd.grad(each.sum(), weight)[0] for each in (found, expected)
    ]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_no_pictures_are_no_blocks():
    body = NatureBody((4, 84, 84))
    blocks = body.prepared(torch.zeros(0, 4, 84, 84, dtype=torch.uint8))
    assert blocks.shape == (0, *body.blocks)
    assert body(blocks).shape == (0, 512)


@pytest.mark.parametrize("shape", [(0,), (3,), (3, 2)])
def test_each_action_of_each_observation_has_its_atoms(shape):
    network = QNetwork((5,), 4, atoms=7)
    observations = torch.rand(*shape, 5)
    answer = network(observations)
    assert answer.shape == (*shape, 4, 7)
    alone = network(observations.view(-1, 5))
    torch.testing.assert_close(answer.view(-1, 4, 7), alone)


def test_a_block_holds_the_pixels_of_a_square():
    pictures = torch.arange(2 * 3 * 8 * 12).reshape(2, 3, 8, 12)
    blocks = as_blocks(pictures)
    assert blocks.shape == (2, 2, 3, 48)
    square = pictures[1, :, 4:8, 8:12]
    assert torch.equal(blocks[1, 1, 2], square.flatten())


# Nine channels of 36 × 144 have that shape in blocks, too.
@pytest.mark.parametrize("shape", [(4, 83, 84), (9, 36, 144), (90, 100, 3)])
def test_what_cannot_be_cut_stays_as_it_is(shape):
    channels_last = shape[-1] == 3
    body = NatureBody(shape, channels_last=channels_last)
    observations = torch.randint(256, (1, *shape), dtype=torch.uint8)
    assert body.prepared(observations) is observations
    first = observations.permute(0, 3, 1, 2) if channels_last else observations
    torch.testing.assert_close(body(observations), body.layers(first))


def test_in_16_bits_every_byte_is_exact():
    """Only the weights are rounded, and the sums."""
    body = NatureBody(ATARI)
    every = torch.arange(256, dtype=torch.uint8)
    assert torch.equal(every.to(torch.bfloat16).float(), every.float())
    rounded = (every.float() / 255).to(torch.bfloat16).float()
    assert not torch.equal(rounded, every.float() / 255)
    with torch.autocast("cpu", torch.bfloat16):
        assert body.layers[0](pictures(2)).dtype == torch.bfloat16


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_pictures_of_anything_but_bytes_are_refused(dtype):
    with pytest.raises(TypeError, match=f"must be uint8, not {dtype}.* divides by 255"):
        ActorCritic(ATARI, 2)(torch.zeros(1, *ATARI, dtype=dtype))


def test_an_array_is_no_tensor():
    with pytest.raises(TypeError, match=r"a tensor, not ndarray: torch\.from_numpy"):
        ActorCritic(ATARI, 2)(np.zeros((1, *ATARI), np.uint8))


def test_there_is_one_action_and_one_dart_for_each_game():
    logits = torch.zeros(3, 4)
    assert log_probs_of(logits, torch.zeros(3).long()).shape == (3,)
    with pytest.raises(ValueError, match=r"actions must have shape \(3,\), .* \(1,\)"):
        log_probs_of(logits, torch.zeros(1).long())
    with pytest.raises(ValueError, match=r"dice must have shape \(3,\), .* \(1,\)"):
        draw(logits, torch.rand(1))


def test_an_action_that_can_not_be_taken_is_not_drawn():
    """Not even where the probabilities of the others, rounded, are less than 1."""
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(2_000, 6, generator=generator)
    logits[torch.arange(2_000), torch.arange(2_000) % 6] = -torch.inf
    logits[:, 5] = -torch.inf
    sums = logits.softmax(-1).cumsum(-1)[:, -1]
    last = 1 - 2**-24  # the highest number that dice show
    assert (sums <= last).sum() > 100
    for dice in (0.0, last):
        drawn = draw(logits, torch.full((2_000,), dice))
        assert log_probs_of(logits, drawn).isfinite().all()


def test_in_16_bits_rare_actions_are_drawn_as_often_as_they_should():
    chances = torch.tensor([0.6, 0.39, 0.006, 0.003, 0.001])
    logits = chances.log().bfloat16()
    chances = logits.float().softmax(-1)
    dice = (torch.arange(100_000) + 0.5) / 100_000
    drawn = draw(logits.expand(100_000, 5), dice)
    found = drawn.bincount(minlength=5) / 100_000
    torch.testing.assert_close(found, chances, atol=2e-5, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_probabilities_of_16_bits_are_not_rounded_once_more(dtype):
    logits = (2 * torch.randn(500, 5_000)).to(dtype)
    actions = torch.arange(500)
    found, entropy = log_probs_of(logits, actions), entropy_of(logits)
    assert found.dtype == entropy.dtype == torch.float32
    torch.testing.assert_close(found, log_probs_of(logits.float(), actions))
    torch.testing.assert_close(entropy, entropy_of(logits.float()))
    assert log_probs_of(logits.double(), actions).dtype == torch.float64


def test_an_action_that_can_not_be_taken_adds_no_entropy():
    logits = torch.tensor([[0.5, -1.0, -torch.inf]], requires_grad=True)
    found = entropy_of(logits)
    torch.testing.assert_close(found, entropy_of(logits[:, :2]))
    (gradient,) = torch.autograd.grad(found.sum(), logits)
    rest = logits[:, :2].detach().requires_grad_()
    (expected,) = torch.autograd.grad(entropy_of(rest).sum(), rest)
    torch.testing.assert_close(gradient, torch.cat([expected, torch.zeros(1, 1)], 1))


@pytest.mark.parametrize(
    "shape", [ATARI, (1, 3, 84, 84), (1, 4, 84, 83), (1, 84, 84, 4)]
)
def test_observations_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=r"must have shape \(N, 4, 84, 84\), not"):
        ActorCritic(ATARI, 2)(torch.zeros(shape, dtype=torch.uint8))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8])
def test_vectors_of_any_type(dtype):
    network = ActorCritic((4,), 2)
    logits, values = network(torch.from_numpy(np.ones((3, 4), dtype)))
    assert (logits.shape, logits.dtype) == ((3, 2), torch.float32)
    assert (values.shape, values.dtype) == ((3,), torch.float32)


# --- environments ---


def test_the_example_of_the_page():
    game: Any = make_game("Breakout", seed=1)
    network = ActorCritic(game.observation_space.shape, game.action_space.n)
    obs, _ = game.reset()
    logits, values = network(torch.from_numpy(obs)[None])
    assert (logits.shape, values.shape) == ((1, 4), (1,))


@pytest.mark.parametrize("name", ["pong", "boxing", "tetris"])
@pytest.mark.parametrize(
    "options", [{}, {"stack": 1}, {"channels_last": True}, {"full_action_space": True}]
)
def test_games_with_their_options(name, options):
    assert name in available_games()
    game: Any = make_game(name, seed=1, **options)
    channels_last = options.get("channels_last", False)
    network = QNetwork(
        game.observation_space.shape, game.action_space.n, channels_last=channels_last
    )
    obs, _ = game.reset()
    assert network(torch.from_numpy(obs)[None]).shape == (1, game.action_space.n)


@pytest.mark.parametrize("obs_type", ["rgb", "grayscale", "ram"])
def test_environments_of_gymnasium(obs_type):
    env: Any = gymnasium.make("ALE/Pong-v5", obs_type=obs_type)
    if obs_type == "grayscale":
        env = gymnasium.wrappers.ReshapeObservation(env, (210, 160, 1))
    obs, _ = env.reset(seed=1)
    network = ActorCritic(obs.shape, env.action_space.n, channels_last=True)
    logits, _ = network(torch.from_numpy(obs)[None])
    assert logits.shape == (1, 6)
    env.close()


def test_cartpole():
    env: Any = gymnasium.make("CartPole-v1")
    obs, _ = env.reset(seed=1)
    network = ActorCritic(env.observation_space.shape, env.action_space.n)
    assert isinstance(network.body, VectorBody)
    logits, values = network(torch.from_numpy(obs)[None])
    assert (logits.shape, values.shape) == ((1, 2), (1,))
    env.close()


# --- weights ---


def test_rows_are_orthogonal_and_as_long_as_they_should_be():
    network = ActorCritic(ATARI, 6)
    gains = {network.policy: 0.01, network.value: 1.0}
    layers = [each for each in network.modules() if hasattr(each, "weight")]
    assert len(layers) == 6
    for layer in layers:
        rows = layer.weight.flatten(1)
        gain = gains.get(layer, math.sqrt(2))
        expected = gain**2 * torch.eye(len(rows))
        torch.testing.assert_close(rows @ rows.T, expected, rtol=1e-4, atol=1e-5)
        assert layer.bias.abs().max() == 0


def test_where_there_are_more_rows_than_columns_these_are_orthogonal():
    layer = nn.Linear(4, 64)
    orthogonal_(layer, gain=3.0)
    columns = layer.weight.T
    torch.testing.assert_close(columns @ columns.T, 9 * torch.eye(4))


def test_a_layer_without_biases_is_no_trouble():
    orthogonal_(nn.Linear(3, 2, bias=False), gain=1.0)


@pytest.mark.parametrize("make", [ActorCritic, QNetwork])
def test_how_large_numbers_are_behind_each_layer(make):
    """Orthogonal weights keep them; PyTorch's make them some 25 times smaller."""
    game: Any = make_game("Breakout", seed=1)
    observations = torch.from_numpy(game.reset()[0])[None]
    size = (observations.float() / 255).square().mean().sqrt()
    sizes = [
        (each.square().mean().sqrt() / size).item()
        for each in stages(make(ATARI, 6).body, observations)
    ]
    if make is ActorCritic:
        assert sizes == pytest.approx([1, 1, 1, 1], abs=0.25)
    else:
        assert sizes == sorted(sizes, reverse=True)
        assert 1 / 32 < sizes[-1] < 1 / 18


def test_half_the_mean_square_passes_a_relu():
    x = torch.randn(100, 3136)
    layer = nn.Linear(3136, 512)
    orthogonal_(layer, gain=3.0)
    found = torch.relu(layer(x)).square().mean() / x.square().mean()
    assert found.item() == pytest.approx(0.5 * 3**2, rel=0.05)


def test_dqn_begins_with_the_weights_of_torch7():
    network = QNetwork(ATARI, 6)
    for layer in network.modules():
        if hasattr(layer, "weight"):
            inputs = layer.weight[0].numel()
            bound = 1 / math.sqrt(inputs)
            assert layer.weight.abs().max() <= bound
            assert layer.bias.abs().max() <= bound
            # Evenly: a third of the square of the bound.
            variance = layer.weight.square().mean().item()
            assert variance == pytest.approx(bound**2 / 3, rel=0.1)


@pytest.mark.parametrize("shape", [ATARI, (4,)])
@pytest.mark.parametrize("actions", [2, 18])
def test_no_action_is_likelier_in_the_beginning(shape, actions):
    network = ActorCritic(shape, actions)
    observations = pictures(16) if shape == ATARI else torch.randn(16, *shape)
    logits, values = network(observations)
    probabilities = logits.softmax(-1)
    assert (probabilities * actions - 1).abs().max() < 0.03
    # The values are not that small.
    assert values.abs().max() > 0.1


def test_dqn_begins_with_small_values():
    assert QNetwork(ATARI, 6)(pictures(8)).abs().max() < 0.1


# --- learning ---


@pytest.mark.parametrize("shape", [ATARI, (4,)])
def test_gradients_reach_all_weights(shape):
    observations = pictures(4) if shape == ATARI else torch.randn(4, *shape)
    actor_critic, q_network = ActorCritic(shape, 3), QNetwork(shape, 3)
    logits, values = actor_critic(observations)
    (logits.log_softmax(-1)[:, 0].sum() + values.sum()).backward()
    q_network(observations).square().sum().backward()
    for network in (actor_critic, q_network):
        for name, weights in network.named_parameters():
            assert weights.grad is not None, name
            assert weights.grad.abs().max() > 0, name


def test_policy_and_value_share_the_body():
    network = ActorCritic(ATARI, 3)
    for answer in network(pictures(2)):
        network.zero_grad()
        answer.square().sum().backward(retain_graph=True)
        assert network.body.layers[0].weight.grad.abs().max() > 0


def test_with_vectors_each_has_a_body_of_its_own():
    network = ActorCritic((4,), 3)
    logits, values = network(torch.randn(5, 4))
    values.sum().backward()
    assert all(each.grad is None for each in network.body.parameters())
    assert all(each.grad is not None for each in network.value_body.parameters())
    logits.square().sum().backward()
    assert all(each.grad is not None for each in network.body.parameters())
    for name, weights in network.body.named_parameters():
        if name.endswith("weight"):
            assert not torch.equal(weights, network.value_body.get_parameter(name))


def test_a_few_steps_of_learning():
    """The network can tell pictures apart: it learns which action each wants."""
    network = ActorCritic(ATARI, 3)
    observations, wanted = pictures(6), torch.arange(6) % 3
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    for _ in range(20):
        loss = nn.functional.cross_entropy(network(observations)[0], wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert network(observations)[0].argmax(-1).tolist() == wanted.tolist()


# --- faster ---


@pytest.mark.parametrize("channels_last", [False, True])
def test_the_order_in_memory_does_not_change_the_results(channels_last):
    shape = (84, 84, 4) if channels_last else ATARI
    network = ActorCritic(shape, 6, channels_last=channels_last)
    observations = pictures(3, shape)
    expected = network(observations)
    network.to(memory_format=torch.channels_last)
    assert network.body.layers[0].weight.is_contiguous(
        memory_format=torch.channels_last
    )
    torch.testing.assert_close(network(observations), expected, rtol=1e-4, atol=1e-5)


def test_the_order_in_memory_does_not_change_the_gradients():
    network = ActorCritic(ATARI, 6)
    observations = pictures(3)

    def gradients():
        network.zero_grad()
        logits, values = network(observations)
        (logits.square().sum() + values.square().sum()).backward()
        return [each.grad.clone() for each in network.parameters()]

    expected = gradients()
    network.to(memory_format=torch.channels_last)
    torch.testing.assert_close(gradients(), expected, rtol=1e-3, atol=1e-4)


def test_bfloat16_is_for_the_body_only():
    network, q_network = ActorCritic(ATARI, 6), QNetwork(ATARI, 6)
    seen = []
    network.policy.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    network.body.register_forward_hook(lambda *given: seen.append(given[2]))
    observations = pictures(3)
    logits, values = network(observations)
    with torch.autocast("cpu", torch.bfloat16):
        rough_logits, rough_values = network(observations)
        action_values = q_network(observations)
    assert [each.dtype for each in seen] == [torch.float32] * 2 + [
        torch.bfloat16,
        torch.float32,
    ]
    for each in (rough_logits, rough_values, action_values):
        assert each.dtype == torch.float32
    # Three digits.
    torch.testing.assert_close(rough_logits, logits, rtol=0, atol=3e-4)
    torch.testing.assert_close(rough_values, values, rtol=0, atol=3e-2)
    rough_values.sum().backward()
    assert network.body.layers[0].weight.grad.dtype == torch.float32


def test_a_network_in_float64_stays_so():
    logits, values = ActorCritic((4,), 2).double()(torch.randn(3, 4))
    assert logits.dtype == values.dtype == torch.float64


class Sized(networks.ActorCritic):
    """Its owner has kept a number under a name that means something else."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.memory = 128


@pytest.mark.usefixtures("catch")
def test_a_network_that_seems_to_remember_is_named(monkeypatch):
    def make_network(settings, observation_space, action_space):
        return Sized(observation_space.shape, action_space.n)

    monkeypatch.setattr(ppo.Experiment, "make_network", staticmethod(make_network))
    with pytest.raises(ValueError, match=r"Sized has a number .* use recurrent-ppo"):
        ppo.Experiment(ppo.Settings(game="Pong", workers=0))


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        (
            pqn,
            "for pqn needs action_values and epsilon, and ActorCritic has no",
        ),
        (rnd, "for rnd needs both and novelty and paid, and ActorCritic has no both"),
        (recurrent, "needs rows and memory, and ActorCritic has no rows"),
    ],
)
def test_a_network_that_lacks_what_it_is_asked_for_is_named(
    monkeypatch, tmp_path, algorithm, said
):
    def make_network(settings, observation_space, action_space):
        return ActorCritic(observation_space.shape, action_space.n)

    monkeypatch.setattr(
        algorithm.Experiment, "make_network", staticmethod(make_network)
    )
    settings = algorithm.Settings(game="Pong", workers=0)
    with pytest.raises(runs.RunError, match=said):
        runs.train(algorithm.Experiment, settings, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()
